package instance

import (
	"context"
	"fmt"

	"github.com/recado-project/recado/internal/gateway"
)

// Restart reconnects a linked instance, without a new code, and starts linking
// one that is not. It returns when the instance is "connecting".
func (s *Service) Restart(ctx context.Context, id string) error {
	return s.command(ctx, id, func(ctx context.Context, sup *supervisor) error {
		return sup.restart(ctx)
	})
}

// Stop closes the session and keeps its keys; only a restart brings it back.
func (s *Service) Stop(ctx context.Context, id string) error {
	return s.command(ctx, id, func(ctx context.Context, sup *supervisor) error {
		return sup.end(ctx, stopped)
	})
}

// Logout ends the session on the platform, or a linking under way, and forgets
// the keys. A linked instance whose session is not up is connected for as long as it takes
// to log out, and its status is never "connected" meanwhile. If nothing is linked or being
// linked, it changes nothing.
func (s *Service) Logout(ctx context.Context, id string) error {
	return s.command(ctx, id, func(ctx context.Context, sup *supervisor) error {
		return sup.logout(ctx)
	})
}

// SetPayment marks the payment of an instance as pending, which closes its
// session and keeps the keys, or as paid, which brings it back. Repeating
// either changes nothing.
func (s *Service) SetPayment(ctx context.Context, id string, pending bool) (gateway.Instance, error) {
	err := s.command(ctx, id, func(ctx context.Context, sup *supervisor) error {
		if pending {
			return sup.end(ctx, paymentPending)
		}
		return sup.settlePayment(ctx)
	})
	if err != nil {
		return gateway.Instance{}, err
	}
	return s.Get(ctx, id)
}

// command runs fn as the only command to the instance. It stops waiting for the lock when
// ctx ends; once begun, fn is not cut short, because half a logout would be worse than
// none.
func (s *Service) command(ctx context.Context, id string, fn func(context.Context, *supervisor) error) error {
	return s.commandTo(ctx, s.supervisor(id), func(sup *supervisor, ctx context.Context) error { return fn(ctx, sup) })
}

// commandTo is command for a supervisor.
func (s *Service) commandTo(ctx context.Context, sup *supervisor, fn func(*supervisor, context.Context) error) error {
	select {
	case sup.command <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("instance: wait for another command: %w", ctx.Err())
	}
	defer func() { <-sup.command }()
	// Only now: close waits for the commands that began before it.
	s.sessions.mu.Lock()
	closed := s.closed
	s.sessions.mu.Unlock()
	if closed {
		return gateway.Errorf(gateway.Unavailable, gateway.CodeUnavailable, "the gateway is stopping")
	}
	if sup.isOver() || s.isLost(ctx, sup.id) {
		return gateway.ErrTenureOver
	}
	return fn(sup, context.WithoutCancel(ctx))
}

// isLost reports whether the tenure that a command stands on is over, where several processes
// share the database.
func (s *Service) isLost(ctx context.Context, id string) bool {
	if s.sessions.config.Owns == nil || !s.sessions.config.Owns.Shared() {
		return false
	}
	held, ok := s.sessions.config.Owns.WithTenure(ctx, id)
	return !ok || gateway.TenureOf(held) != gateway.TenureOf(ctx)
}

// supervisor returns the live side of an instance. It makes one for every id: only the
// store knows whether there is such an instance.
func (s *Service) supervisor(id string) *supervisor {
	s.sessions.mu.Lock()
	defer s.sessions.mu.Unlock()
	return s.supervisorLocked(id)
}

// supervisorLocked is supervisor for a caller that holds the lock.
func (s *Service) supervisorLocked(id string) *supervisor {
	sup, ok := s.sessions.supervisors[id]
	if !ok {
		sup = &supervisor{service: s, id: id, command: make(chan struct{}, 1), changed: make(chan struct{})}
		s.sessions.supervisors[id] = sup
	}
	return sup
}
