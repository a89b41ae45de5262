package instance

import (
	"context"
	"log/slog"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

// lifecycle takes the calls of one session of a supervisor (gateway.Lifecycle). Calls of a
// session that was replaced or closed are ignored.
type lifecycle struct {
	supervisor *supervisor
	generation int
}

var _ gateway.Lifecycle = (*lifecycle)(nil)

// CodeShown keeps the code for requests and appends its event.
func (l *lifecycle) CodeShown(ctx context.Context, code gateway.QRCode) {
	l.move(ctx, codeShown, nil)
	l.set(func(s *supervisor) { s.code, s.trouble = code, nil })
	if err := l.appendCode(ctx, code); err != nil {
		// A request gets the code all the same; only the event is missing.
		l.supervisor.service.config.Logger.ErrorContext(ctx, "event of a code not appended",
			slog.String("instance_id", l.supervisor.id), slog.Any("error", err))
	}
}

func (l *lifecycle) appendCode(ctx context.Context, code gateway.QRCode) error {
	if !l.current() {
		return nil
	}
	picture, err := Picture(code)
	if err != nil {
		return err
	}
	event, err := eventlog.NewEvent(l.supervisor.id, "", "", l.supervisor.service.sessions.config.Now(), eventlog.InstanceQR{
		InstanceID: l.supervisor.id, QRCode: picture, Code: code.Code, ExpiresAt: code.ExpiresAt.UnixMilli(), Attempt: code.Attempt,
	})
	if err != nil {
		return err
	}
	return l.supervisor.service.config.Log.Append(ctx, event)
}

// CodesExpired ends the linking.
func (l *lifecycle) CodesExpired(ctx context.Context) {
	l.over(ctx, codesExpired, codesExpired.reason(), nil, linkingEnded())
}

// Pairing writes the name of the new keys before they are used: so after a crash the
// platform never has a device whose keys the instance does not know.
func (l *lifecycle) Pairing(ctx context.Context, device string) error {
	if !l.current() {
		return gateway.Errorf(gateway.Conflict, gateway.CodeNotConnected, "linking was ended")
	}
	_, err := l.supervisor.service.sessions.config.Store.UpdateInstance(ctx, l.supervisor.id, func(instance *gateway.Instance) ([]eventlog.Event, error) {
		instance.Device = device
		instance.UpdatedAt = l.supervisor.service.sessions.config.Now().UTC()
		return nil, nil
	})
	return err
}

// Paired removes the code: it was used.
func (l *lifecycle) Paired(ctx context.Context) {
	l.set(func(s *supervisor) { s.code = gateway.QRCode{} })
	l.move(ctx, paired, nil)
}

// PairingFailed undoes what Pairing has written.
func (l *lifecycle) PairingFailed(ctx context.Context) {
	l.set(func(s *supervisor) { s.code = gateway.QRCode{} })
	l.move(ctx, connectionLost, forget)
}

// Connected makes the session available for sending.
func (l *lifecycle) Connected(ctx context.Context, profile gateway.Profile) error {
	// First the session, then the status: a client that reads "connected" can send.
	l.set(func(s *supervisor) {
		s.up, s.announced, s.trouble, s.wantedSince = true, false, nil, time.Time{}
		s.code = gateway.QRCode{}
	})
	if _, err := l.supervisor.update(ctx, update{
		cause: connected, reason: connected.reason(), change: describe(profile), current: l.current,
	}); err != nil {
		return err
	}
	l.set(func(s *supervisor) { s.announced = true })
	l.supervisor.service.sessions.arrived(l.supervisor.id)
	l.tellConnected(ctx)
	return nil
}

func (l *lifecycle) tellConnected(ctx context.Context) {
	if connected := l.supervisor.service.config.Connected; connected != nil {
		connected(ctx, l.supervisor.id)
	}
}

// ProfileChanged writes the account's new name.
func (l *lifecycle) ProfileChanged(ctx context.Context, profile gateway.Profile) {
	l.move(ctx, described, describe(profile))
	if l.current() {
		l.tellConnected(ctx)
	}
}

// PictureChanged writes where the account's picture lies.
func (l *lifecycle) PictureChanged(ctx context.Context, url string) {
	l.move(ctx, described, func(instance *gateway.Instance) { instance.Profile.PictureURL = url })
}

// ConnectionLost makes the session unavailable for sending until it is back.
func (l *lifecycle) ConnectionLost(ctx context.Context, trouble error) {
	if l.supervisor.connected() == nil {
		l.failed(failureOf(trouble))
	}
	l.set(func(s *supervisor) {
		s.up = false
		s.trouble = trouble
		s.code = gateway.QRCode{}
		s.wants(s.service.sessions.config.Now())
	})
	l.update(ctx, update{cause: connectionLost, reason: whyLost(trouble), change: func(instance *gateway.Instance) {
		// A session that is tried in vain stays "connecting". It matters whether that is
		// the proxy's fault.
		if why := whyLost(trouble); instance.Status == gateway.StatusConnecting && (why.IsProxy() || instance.Reason.IsProxy()) {
			instance.Reason = why
		}
	}})
}

// Refused ends the session. Its keys stay: the refusal may be lifted. A session that was
// replaced by that of a node which had the instance before comes back.
func (l *lifecycle) Refused(ctx context.Context, reason gateway.Reason) {
	if reason == gateway.ReasonReplaced && l.replaced(ctx) {
		return
	}
	l.over(ctx, refused, reason, nil, gateway.Errorf(gateway.PlatformFailed, gateway.CodePlatformError,
		"the platform refuses the session: %s", reason))
}

// Outdated keeps the session, which comes back by itself, and why it is not there.
func (l *lifecycle) Outdated(ctx context.Context, why error) {
	l.failed(FailureOutdated)
	l.set(func(s *supervisor) { s.up, s.trouble, s.wantedSince = false, why, time.Time{} })
	l.update(ctx, update{cause: outdated, reason: gateway.ReasonClientOutdated})
}

// LoggedOut ends the session, whose keys are gone.
func (l *lifecycle) LoggedOut(ctx context.Context) {
	l.over(ctx, unlinked, unlinked.reason(), forget, linkingEnded())
}
