package instance

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/recado-project/recado/internal/gateway"
)

// logout is the command behind Service.Logout.
func (s *supervisor) logout(ctx context.Context) error {
	// First of all: without an instance, or a database, nothing must be changed.
	if _, err := s.service.sessions.config.Store.GetInstance(ctx, s.id); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, s.service.config.LogoutWait)
	defer cancel()
	goodbye := errNotUp
	up := s.connected() != nil
	if session := s.detach(); session != nil {
		if up {
			goodbye = session.Logout(limited)
		}
		session.Close()
	}
	// Only now: until the session was closed, a phone may have accepted its code.
	instance, err := s.service.sessions.config.Store.GetInstance(ctx, s.id)
	if err != nil {
		return err
	}
	if instance.Linked() {
		if goodbye != nil { // also if the connection broke meanwhile
			if err := s.sayGoodbye(limited, instance); err != nil {
				// The user is logged out all the same.
				s.service.config.Logger.WarnContext(ctx, "instance logged out, but the platform did not answer; the phone may still list the device",
					slog.String("instance_id", s.id), slog.Any("error", errors.Join(goodbye, err)))
			}
		}
		// Also after a successful logout: keys that do not exist are no error.
		if err := s.service.sessions.config.Connector.Forget(ctx, instance.Device); err != nil {
			return fmt.Errorf("instance: forget keys: %w", err)
		}
	}
	return s.write(ctx, loggedOut, forget)
}

// errNotUp says that there is no session that could log out.
var errNotUp = errors.New("instance: the session is not up")

// sayGoodbye opens a session of the instance for as long as it takes to
// have the platform forget them. It is not the supervisor's session: nothing is sent with
// it, and the instance's status does not follow it. The supervisor's own session, which
// is not up, would be of no use: it may be in the middle of a long pause.
func (s *supervisor) sayGoodbye(ctx context.Context, instance gateway.Instance) error {
	goodbye := &farewell{
		lifecycle: &lifecycle{supervisor: s, generation: ofNobody},
		up:        make(chan struct{}, 1),
		over:      make(chan error, 1),
	}
	session, err := s.service.sessions.config.Connector.Open(ctx, instance, goodbye, s.service.config.Receivers.For(s.id))
	if err != nil {
		return fmt.Errorf("instance: open session to log out: %w", err)
	}
	defer session.Close()
	if !session.Linked() {
		return errors.New("instance: the keys are gone already")
	}
	session.Start()
	select {
	case <-goodbye.up:
		return session.Logout(ctx)
	case err := <-goodbye.over:
		return err
	case <-ctx.Done():
		return fmt.Errorf("instance: the platform was not reached: %w", ctx.Err())
	}
}

// ofNobody is a generation that is never the current one.
const ofNobody = -1

// farewell is the lifecycle of a session that only logs out. Its connection does not
// change the instance. The instance's receiver keeps what arrives meanwhile: it would be
// lost otherwise.
type farewell struct {
	*lifecycle

	up   chan struct{}
	over chan error // nil: there is nothing left to log out
}

// Connected says that the session can log out. After a connection that broke it is called
// again, which changes nothing.
func (f *farewell) Connected(context.Context, gateway.Profile) error {
	select {
	case f.up <- struct{}{}:
	default:
	}
	return nil
}

// Refused says that the session can't log out.
func (f *farewell) Refused(_ context.Context, reason gateway.Reason) {
	f.end(fmt.Errorf("instance: the platform refuses the session: %s", reason))
}

// Outdated says that the session can't log out before a newer version is looked up.
func (f *farewell) Outdated(_ context.Context, why error) { f.end(why) }

// LoggedOut says that the phone has unlinked the device before.
func (f *farewell) LoggedOut(context.Context) { f.end(nil) }

// end says that the session is over. Only the first call counts: no second result is
// waited for, and the session must not be blocked.
func (f *farewell) end(err error) {
	select {
	case f.over <- err:
	default:
	}
}
