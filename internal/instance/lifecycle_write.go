package instance

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// current reports whether the session is still the supervisor's own.
func (l *lifecycle) current() bool {
	l.supervisor.mu.Lock()
	defer l.supervisor.mu.Unlock()
	return l.generation == l.supervisor.generation
}

// set changes fields of the supervisor and wakes the goroutines that wait for them.
func (l *lifecycle) set(change func(*supervisor)) {
	l.supervisor.mu.Lock()
	defer l.supervisor.mu.Unlock()
	if l.generation != l.supervisor.generation {
		return
	}
	change(l.supervisor)
	l.supervisor.wake()
}

func (l *lifecycle) move(ctx context.Context, cause occurrence, change func(*gateway.Instance)) {
	l.update(ctx, update{cause: cause, reason: cause.reason(), change: change})
}

// over notes that the session has ended by itself, and then writes it, so that a client
// that reads the status can start anew. Requests that wait for a code fail last, so that
// they can read the status that the failure mentions. The next command closes the session:
// its Close would wait for this very call.
func (l *lifecycle) over(ctx context.Context, cause occurrence, reason gateway.Reason,
	change func(*gateway.Instance), failure error,
) {
	l.set(func(s *supervisor) {
		s.up, s.ended, s.code, s.wantedSince = false, true, gateway.QRCode{}, time.Time{}
	})
	l.update(ctx, update{cause: cause, reason: reason, change: change})
	l.set(func(s *supervisor) { s.failure = failure })
}

// update writes a change of the session. If the database takes no writes, it tries again
// until that is over, until the session was replaced, or until ctx ends. Otherwise the
// stored status would stay wrong, and the event would be missing. The session can do
// nothing without it meanwhile.
func (l *lifecycle) update(ctx context.Context, u update) {
	u.current = l.current
	logger := l.supervisor.service.config.Logger.With(slog.String("instance_id", l.supervisor.id))
	for tries := 0; ; tries++ {
		_, err := l.supervisor.update(ctx, u)
		switch {
		case err == nil && tries > 0:
			logger.InfoContext(ctx, "instance status written after all", slog.Int("tries", tries+1))
			return
		case err == nil || gateway.KindOf(err) == gateway.NotFound: // deleted meanwhile
			return
		case errors.Is(err, gateway.ErrTenureOver): // the next owner writes what is true
			return
		case ctx.Err() != nil || !l.current():
			return
		case tries == 0:
			logger.ErrorContext(ctx, "instance status not written; it is tried again",
				slog.String("reason", string(u.reason)), slog.Any("error", err))
		}
		if !l.pause(ctx) {
			return
		}
	}
}

// pause waits before a write is tried again, and reports whether to try.
func (l *lifecycle) pause(ctx context.Context) bool {
	l.supervisor.mu.Lock()
	changed := l.supervisor.changed
	l.supervisor.mu.Unlock()
	timer := time.NewTimer(writePause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-changed: // perhaps by a command that waits for this session's end
	case <-ctx.Done():
	}
	return ctx.Err() == nil && l.current()
}

// describe sets the account that the instance is linked to.
func describe(profile gateway.Profile) func(*gateway.Instance) {
	return func(instance *gateway.Instance) {
		profile.PictureURL = instance.Profile.PictureURL
		instance.Profile = profile
	}
}
