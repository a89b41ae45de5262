package instance

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/recado-project/recado/internal/gateway"
)

// logout is the command behind Service.Logout.
func (l *link) logout(ctx context.Context) error {
	// First whether there is such an instance, and a database: nothing has been
	// touched yet.
	if _, err := l.service.config.Store.GetInstance(ctx, l.id); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, l.service.logoutWait)
	defer cancel()
	goodbye := errNotUp
	up := l.connected() != nil
	if session := l.detach(); session != nil {
		if up {
			goodbye = session.Logout(limited)
		}
		session.Close()
	}
	// Only now: until its session was closed, a phone may have accepted.
	instance, err := l.service.config.Store.GetInstance(ctx, l.id)
	if err != nil {
		return err
	}
	if instance.Linked() {
		if goodbye != nil { // also where the connection broke under it
			if err := l.sayGoodbye(limited, instance.Device); err != nil {
				// That must not keep the user from logging out.
				l.service.config.Logger.WarnContext(ctx, "logged out without the platform's answer; the phone may go on listing the device",
					slog.String("instance_id", l.id), slog.Any("error", errors.Join(goodbye, err)))
			}
		}
		// Also after a goodbye that the platform heard: what is gone is no error.
		if err := l.service.config.Connector.Forget(ctx, instance.Device); err != nil {
			return fmt.Errorf("instance: forget keys: %w", err)
		}
	}
	return l.write(ctx, loggedOut, forget)
}

// errNotUp says that there is no session that could say goodbye.
var errNotUp = errors.New("instance: the session is not up")

// sayGoodbye opens a session with the keys that device names for as long as it
// takes to have the platform forget them. It is not the link's: nobody sends with
// it, and the instance's status does not follow it. A session of the link that is
// being retried would be of no use: it may be in the middle of a long pause.
func (l *link) sayGoodbye(ctx context.Context, device string) error {
	heard := &farewell{
		handler: &handler{link: l, generation: ofNobody},
		up:      make(chan struct{}, 1),
		over:    make(chan error, 1),
	}
	session, err := l.service.config.Connector.Open(ctx, device, heard, l.service.config.Receivers.For(l.id))
	if err != nil {
		return fmt.Errorf("instance: open session to log out: %w", err)
	}
	defer session.Close()
	if !session.Linked() {
		return errors.New("instance: the keys are gone already")
	}
	session.Start()
	select {
	case <-heard.up:
		return session.Logout(ctx)
	case err := <-heard.over:
		return err
	case <-ctx.Done():
		return fmt.Errorf("instance: the platform was not reached: %w", ctx.Err())
	}
}

// ofNobody is a generation that is never the current one.
const ofNobody = -1

// farewell is what a session talks to that only says goodbye. What it tells of
// the connection is not about the instance; what arrives meanwhile is kept as
// ever: it would be lost otherwise, and a session that can't hand something on
// gives up its connection.
type farewell struct {
	*handler

	up   chan struct{}
	over chan error // nil: there is nothing left to say goodbye to
}

// Connected tells that the goodbye can be said. A second time, after a connection
// that broke, says nothing new.
func (f *farewell) Connected(context.Context, gateway.Profile) error {
	select {
	case f.up <- struct{}{}:
	default:
	}
	return nil
}

// Refused tells that the goodbye can't be said.
func (f *farewell) Refused(_ context.Context, reason gateway.Reason) {
	f.end(fmt.Errorf("instance: the platform refuses the session: %s", reason))
}

// LoggedOut tells that the phone has unlinked the device before.
func (f *farewell) LoggedOut(context.Context) { f.end(nil) }

// end tells that the session is over. Only the first time counts: nobody waits for
// another, and the session must not wait for anybody.
func (f *farewell) end(err error) {
	select {
	case f.over <- err:
	default:
	}
}
