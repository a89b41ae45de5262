// How users get in: with a name and a password, and how it ends everywhere.

package user

import (
	"context"
	"strings"

	"github.com/recado-project/recado/internal/gateway"
)

// SignIn returns the user with the name and the password. Its error is Unauthorized if
// one of them is wrong, without saying which, RateLimited with the time to wait after too
// many tries, and Unavailable if too many people sign in at once.
func (s *Service) SignIn(ctx context.Context, name, password, address string) (gateway.User, error) {
	name = strings.TrimSpace(name)
	if err := s.tries.try(s.now(), name, address); err != nil {
		return gateway.User{}, err
	}
	var user gateway.User
	found := false
	var err error
	if UnfitName(name) == "" {
		if user, found, err = s.store.FindUserByName(ctx, name); err != nil {
			return gateway.User{}, err
		}
	}
	if err := s.confirm(ctx, user, password); err != nil {
		if found && s.tries.waits(s.now(), name) {
			// Not each try: whoever tries for a day would push all else out of the list.
			s.Record(ctx, As(user, address), ActionSignInBlocked, user.Name, "")
		}
		return gateway.User{}, err
	}
	s.tries.succeeded(name, address)
	return user, s.signedIn(ctx, user, address, "password")
}

// confirm returns an Unauthorized unless the user has the password.
func (s *Service) confirm(ctx context.Context, user gateway.User, password string) error {
	matches, err := s.passwords.matches(ctx, password, user.Password)
	if err == nil && !matches {
		err = gateway.Errorf(gateway.Unauthorized, CodeWrongPassword, "the name or the password is wrong")
	}
	return err
}

// signedIn notes that the user has signed in, by a password, passkey or link.
func (s *Service) signedIn(ctx context.Context, user gateway.User, address, by string) error {
	if err := s.store.TouchUser(ctx, user.ID, s.now()); err != nil {
		return err
	}
	s.Record(ctx, As(user, address), ActionSignedIn, "", by)
	return nil
}

// ChangePassword changes the actor's own password and ends all sign-ins; it returns the
// user as it is then, so that this browser can sign in anew. Its error is Unauthorized if
// the present password is wrong, Invalid if the new one is not good enough, and else as
// that of SignIn.
func (s *Service) ChangePassword(ctx context.Context, actor Actor, present, password string) (gateway.User, error) {
	user, err := s.Get(ctx, actor.UserID)
	if err != nil {
		return gateway.User{}, err
	}
	if err := checkPassword(user.Name, password); err != nil {
		return gateway.User{}, err
	}
	if err := s.tries.try(s.now(), user.Name, actor.Address); err != nil {
		return gateway.User{}, err
	}
	if err := s.confirm(ctx, user, present); err != nil {
		return gateway.User{}, err
	}
	s.tries.succeeded(user.Name, actor.Address)
	hash, err := s.passwords.hash(ctx, password)
	if err != nil {
		return gateway.User{}, err
	}
	if _, err := s.store.SetUserPassword(ctx, user.ID, hash); err != nil {
		return gateway.User{}, err
	}
	s.endOf(user.ID)
	s.Record(ctx, actor, ActionPasswordChanged, "", "")
	return s.Get(ctx, user.ID)
}

// SignOutEverywhere ends all sign-ins of a user of the actor's account. Its error is
// Forbidden if that is somebody else and the actor is no owner, and NotFound if there is no
// such user.
func (s *Service) SignOutEverywhere(ctx context.Context, actor Actor, id string) error {
	if id != actor.UserID {
		if err := actor.Need(gateway.RoleOwner); err != nil {
			return err
		}
	}
	user, err := s.find(ctx, actor, id)
	if err != nil {
		return err
	}
	if _, err := s.store.EndSignIns(ctx, id); err != nil {
		return err
	}
	s.endOf(id)
	s.Record(ctx, actor, ActionSignedOutEverywhere, user.Name, "")
	return nil
}

// SignedOut notes that the actor has signed out in one browser, and ends its watches.
func (s *Service) SignedOut(ctx context.Context, actor Actor, browser string) {
	s.end(func(w *watch) bool { return w.browser == browser })
	s.Record(ctx, actor, ActionSignedOut, "", "")
}
