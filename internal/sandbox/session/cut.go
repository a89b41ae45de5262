package session

import (
	"context"
	"time"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// Ban bans the account of a number for a while, or for good if d is 0. Its devices
// are cut off and can't log in.
func (s *Service) Ban(ctx context.Context, number string, d time.Duration) error {
	if d < 0 {
		return refusal.Invalidf("seconds", "must not be negative")
	}
	of, err := s.config.Accounts.Named(ctx, number)
	if err != nil {
		return err
	}
	until := int64(account.BannedForGood)
	if d > 0 {
		until = s.now().Add(d).UnixMilli()
	}
	u := s.config.Accounts.NewUnit()
	u.Exec("UPDATE accounts SET banned_until = $1 WHERE number = $2", until, of.Number)
	u.Then(func() { of.SetBan(until) })
	u.Ring(of.Number)
	if err := u.Commit(ctx); err != nil {
		return err
	}
	for _, linked := range of.Companions() {
		linked.Cut()
	}
	return nil
}

// LiftBan ends the ban of the account of a number. Its devices can log in again.
func (s *Service) LiftBan(ctx context.Context, number string) error {
	of, err := s.config.Accounts.Named(ctx, number)
	if err != nil {
		return err
	}
	u := s.config.Accounts.NewUnit()
	u.Exec("UPDATE accounts SET banned_until = 0 WHERE number = $1", of.Number)
	u.Then(func() { of.SetBan(0) })
	u.Ring(of.Number)
	return u.Commit(ctx)
}

// Replace ends the connections of the phone's linked devices, as if each device had
// logged in a second time elsewhere.
func (s *Service) Replace(ctx context.Context, number string) error {
	of, err := s.config.Accounts.Named(ctx, number)
	if err != nil {
		return err
	}
	for _, linked := range of.Companions() {
		linked.CloseAfter(wire.StreamError("", "replaced"))
	}
	return nil
}

// Disconnect cuts the connections of a number's linked devices without a last node.
// If the number is empty, it cuts all connections.
func (s *Service) Disconnect(ctx context.Context, number string) error {
	if number == "" {
		for _, c := range s.config.Connections.All() {
			c.Cut()
		}
		return nil
	}
	of, err := s.config.Accounts.Named(ctx, number)
	if err != nil {
		return err
	}
	for _, linked := range of.Companions() {
		linked.Cut()
	}
	return nil
}
