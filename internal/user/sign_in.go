// How users get in: with a name and a password, and how it ends everywhere.

package user

import (
	"context"
	"log/slog"
	"slices"
	"strings"

	"github.com/recado-project/recado/internal/gateway"
)

// SignIn returns the user with the name and the password. Its error is Unauthorized if
// one of them is wrong, without saying which, RateLimited with the time to wait after too
// many tries, and Unavailable if too many people sign in at once.
func (s *Service) SignIn(ctx context.Context, name, password, address string) (gateway.User, error) {
	name = strings.TrimSpace(name)
	user, err := s.withPassword(ctx, name, password, address)
	if err != nil {
		s.watcher(outcomeOf(err))
		return gateway.User{}, err
	}
	s.tries.succeeded(name, address)
	return user, s.signedIn(ctx, user, address, "password")
}

func (s *Service) withPassword(ctx context.Context, name, password, address string) (user gateway.User, err error) {
	// Nothing is looked up for whoever has to wait.
	if err := s.tries.held(s.now(), address); err != nil {
		return gateway.User{}, err
	}
	found := false
	if UnfitName(name) == "" {
		if user, found, err = s.store.FindUserByName(ctx, name); err != nil {
			return gateway.User{}, err
		}
	}
	try := who{name: name, known: found, address: address}
	if err := s.tries.try(s.now(), try); err != nil {
		return gateway.User{}, err
	}
	if err := s.confirm(ctx, user, password); err != nil {
		s.wrong(ctx, try, user)
		return gateway.User{}, err
	}
	return user, nil
}

// wrong tells of a name and an address that have to wait after a wrong try. Only the waits are told,
// not each try: whoever tries for a day would push all else out of the audit list.
func (s *Service) wrong(ctx context.Context, try who, user gateway.User) {
	name, address := s.tries.failed(s.now(), try)
	if name {
		s.logger.WarnContext(ctx, "a user has to wait after too many wrong tries to sign in",
			slog.String("user_id", user.ID), slog.String("client", try.address))
		s.Record(ctx, As(user, try.address), ActionSignInBlocked, user.Name, "")
	}
	if !address {
		return
	}
	s.logger.WarnContext(ctx, "an address has to wait after too many wrong tries to sign in", slog.String("client", try.address))
	if !s.addressesNoted.AllowN(s.now(), 1) {
		return
	}
	accounts, err := s.accounts(ctx)
	if err != nil {
		s.logger.ErrorContext(ctx, "an address that has to wait is not in the audit list", slog.Any("error", err))
	}
	for _, account := range accounts {
		s.Record(ctx, Actor{AccountID: account, Name: try.address, Address: try.address}, ActionAddressBlocked, "", "")
	}
}

// accounts returns the accounts that have users.
func (s *Service) accounts(ctx context.Context) (ids []string, err error) {
	users, err := s.store.AllUsers(ctx)
	for _, user := range users {
		ids = append(ids, user.AccountID)
	}
	slices.Sort(ids)
	return slices.Compact(ids), err
}

// Outcome is what came of a try to sign in.
type Outcome string

// The outcomes of tries to sign in.
const (
	OutcomeSignedIn Outcome = "signed_in"
	OutcomeWrong    Outcome = "wrong"   // the name, the password, the passkey or the link
	OutcomeHeldUp   Outcome = "held_up" // somebody has to wait after too many wrong ones
	OutcomeFailed   Outcome = "failed"  // too many at once, or the database is away
)

// Outcomes returns all of them.
func Outcomes() []Outcome {
	return []Outcome{OutcomeSignedIn, OutcomeWrong, OutcomeHeldUp, OutcomeFailed}
}

func outcomeOf(err error) Outcome {
	switch gateway.KindOf(err) {
	case gateway.Unauthorized, gateway.NotFound, gateway.Gone:
		return OutcomeWrong
	case gateway.RateLimited:
		return OutcomeHeldUp
	default:
		return OutcomeFailed
	}
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
	s.watcher(OutcomeSignedIn)
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
	try := who{name: user.Name, known: true, address: actor.Address}
	if err := s.tries.try(s.now(), try); err != nil {
		return gateway.User{}, err
	}
	if err := s.confirm(ctx, user, present); err != nil {
		s.wrong(ctx, try, user)
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
