package instance

import (
	"context"
	"log/slog"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

// handler is what one session of a link talks to. A session that was replaced
// or closed is not heard any more.
type handler struct {
	link       *link
	generation int
}

var _ gateway.Lifecycle = (*handler)(nil)

// CodeShown keeps the code for those who ask for it.
func (h *handler) CodeShown(ctx context.Context, code gateway.QRCode) {
	h.move(ctx, codeShown, nil)
	h.set(func(l *link) { l.code, l.trouble = code, nil })
	if err := h.tellCode(ctx, code); err != nil {
		// The code is there for whoever asks; only the event is missing.
		h.link.service.config.Logger.ErrorContext(ctx, "code not told",
			slog.String("instance_id", h.link.id), slog.Any("error", err))
	}
}

func (h *handler) tellCode(ctx context.Context, code gateway.QRCode) error {
	if !h.current() {
		return nil
	}
	picture, err := Picture(code)
	if err != nil {
		return err
	}
	event, err := eventlog.NewEvent(h.link.id, "", "", h.link.service.config.Now(), eventlog.InstanceQR{
		InstanceID: h.link.id, QRCode: picture, ExpiresAt: code.ExpiresAt.UnixMilli(), Attempt: code.Attempt,
	})
	if err != nil {
		return err
	}
	return h.link.service.config.Log.Append(ctx, event)
}

// CodesExpired ends the linking.
func (h *handler) CodesExpired(ctx context.Context) {
	h.over(ctx, codesExpired, codesExpired.reason(), nil, linkingEnded())
}

// Pairing notes the name of the new keys before the platform can have them
// alone: a crash from here on finds either both or neither.
func (h *handler) Pairing(ctx context.Context, device string) error {
	if !h.current() {
		return gateway.Errorf(gateway.Conflict, gateway.CodeNotConnected, "linking was ended")
	}
	_, err := h.link.service.config.Store.UpdateInstance(ctx, h.link.id, func(instance *gateway.Instance) ([]eventlog.Event, error) {
		instance.Device = device
		instance.UpdatedAt = h.link.service.config.Now().UTC()
		return nil, nil
	})
	return err
}

// Paired takes the code away: it was used.
func (h *handler) Paired(ctx context.Context) {
	h.set(func(l *link) { l.code = gateway.QRCode{} })
	h.move(ctx, paired, nil)
}

// PairingFailed forgets what Pairing noted.
func (h *handler) PairingFailed(ctx context.Context) {
	h.set(func(l *link) { l.code = gateway.QRCode{} })
	h.move(ctx, connectionLost, forget)
}

// Connected opens the session to those who send.
func (h *handler) Connected(ctx context.Context, profile gateway.Profile) error {
	// First the session, then the status: who reads "connected" can send.
	h.set(func(l *link) {
		l.up, l.announced, l.trouble = true, false, nil
		l.code = gateway.QRCode{}
	})
	if err := h.link.update(ctx, update{
		cause: connected, reason: connected.reason(), change: describe(profile), current: h.current,
	}); err != nil {
		return err
	}
	h.set(func(l *link) { l.announced = true })
	return nil
}

// ProfileChanged writes the account's new name.
func (h *handler) ProfileChanged(ctx context.Context, profile gateway.Profile) {
	h.move(ctx, described, describe(profile))
}

// PictureChanged writes where the account's picture lies.
func (h *handler) PictureChanged(ctx context.Context, url string) {
	h.move(ctx, described, func(instance *gateway.Instance) { instance.Profile.PictureURL = url })
}

// ConnectionLost closes the session to those who send, until it is back.
func (h *handler) ConnectionLost(ctx context.Context, trouble error) {
	h.set(func(l *link) {
		l.up = false
		l.trouble = trouble
		l.code = gateway.QRCode{}
	})
	h.move(ctx, connectionLost, nil)
}

// Refused ends the session. Its keys stay: the refusal may be lifted.
func (h *handler) Refused(ctx context.Context, reason gateway.Reason) {
	h.over(ctx, refused, reason, nil, gateway.Errorf(gateway.PlatformFailed, gateway.CodePlatformError,
		"the platform refuses the session: %s", reason))
}

// LoggedOut ends the session, whose keys are gone.
func (h *handler) LoggedOut(ctx context.Context) {
	h.over(ctx, unlinked, unlinked.reason(), forget, linkingEnded())
}

// current reports whether the session is still the link's own.
func (h *handler) current() bool {
	h.link.mu.Lock()
	defer h.link.mu.Unlock()
	return h.generation == h.link.generation
}

// set changes the link's fields, and wakes those who wait for them.
func (h *handler) set(change func(*link)) {
	h.link.mu.Lock()
	defer h.link.mu.Unlock()
	if h.generation != h.link.generation {
		return
	}
	change(h.link)
	h.link.wake()
}

func (h *handler) move(ctx context.Context, cause occurrence, change func(*gateway.Instance)) {
	h.update(ctx, update{cause: cause, reason: cause.reason(), change: change})
}

// over notes that the session has ended by itself, then writes it: who reads the
// status can start anew. Those who wait for a code hear of the failure last: they
// can read the status that it speaks of. The session stays the link's until the
// next command closes it: here it would wait for this very call.
func (h *handler) over(ctx context.Context, cause occurrence, reason gateway.Reason,
	change func(*gateway.Instance), failure error,
) {
	h.set(func(l *link) {
		l.up, l.ended, l.code = false, true, gateway.QRCode{}
	})
	h.update(ctx, update{cause: cause, reason: reason, change: change})
	h.set(func(l *link) { l.failure = failure })
}

// update writes what the session says. Where the database takes nothing it tries
// until that is over, until the session is not the link's any more, or until ctx
// ends: the status that is kept would be wrong for good, and nobody told of the
// change. The session has nothing better to do meanwhile.
func (h *handler) update(ctx context.Context, u update) {
	u.current = h.current
	logger := h.link.service.config.Logger.With(slog.String("instance_id", h.link.id))
	for tries := 0; ; tries++ {
		err := h.link.update(ctx, u)
		switch {
		case err == nil && tries > 0:
			logger.InfoContext(ctx, "instance status written after all", slog.Int("tries", tries+1))
			return
		case err == nil || gateway.KindOf(err) == gateway.NotFound: // deleted meanwhile
			return
		case ctx.Err() != nil || !h.current():
			return
		case tries == 0:
			logger.ErrorContext(ctx, "instance status not written; it is tried again",
				slog.String("reason", string(u.reason)), slog.Any("error", err))
		}
		if !h.pause(ctx) {
			return
		}
	}
}

// pause waits before a write is tried again, and reports whether it is to be.
func (h *handler) pause(ctx context.Context) bool {
	h.link.mu.Lock()
	changed := h.link.changed
	h.link.mu.Unlock()
	timer := time.NewTimer(writePause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-changed: // perhaps by a command that waits for this session's end
	case <-ctx.Done():
	}
	return ctx.Err() == nil && h.current()
}

// describe sets who the instance is linked to.
func describe(profile gateway.Profile) func(*gateway.Instance) {
	return func(instance *gateway.Instance) {
		profile.PictureURL = instance.Profile.PictureURL
		instance.Profile = profile
	}
}
