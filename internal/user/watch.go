// Streams learn here that their user was signed out, has another role, or is gone.

package user

import (
	"context"
	"log/slog"
	"maps"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

const (
	// watchPause is how often watched users are looked at, for what another process
	// changes: a command on the machine itself.
	watchPause = time.Second
	// sweepPause is how often old rows are looked for.
	sweepPause = 10 * time.Minute
)

// watch is somebody who wants to know when a sign-in ends.
type watch struct {
	user    gateway.User
	browser string
	until   time.Time
	ended   chan struct{}
}

// Watch returns a channel that is closed when a sign-in of the user ends: by signing out in
// that browser, everywhere, by another password or role, by deletion, or at its time. What
// happens here is told at once, all else while Run runs. user is as it was read for the
// present request; browser is a name for the browser that SignedOut knows. The caller calls
// stop once.
func (s *Service) Watch(user gateway.User, browser string, until time.Time) (ended <-chan struct{}, stop func()) {
	w := &watch{user: user, browser: browser, until: until, ended: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watches[w] = struct{}{}
	return w.ended, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watches, w)
	}
}

// end closes the channels of those that has reports.
func (s *Service) end(has func(w *watch) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.watches {
		if has(w) {
			close(w.ended)
			delete(s.watches, w)
		}
	}
}

// endOf closes the channels of a user.
func (s *Service) endOf(userID string) {
	s.end(func(w *watch) bool { return w.user.ID == userID })
}

// Run tells watchers what other processes have changed, and removes old rows, until ctx
// ends. It logs what fails.
func (s *Service) Run(ctx context.Context) error {
	looks, sweeps := time.NewTicker(watchPause), time.NewTicker(sweepPause)
	defer looks.Stop()
	defer sweeps.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-sweeps.C:
			if err := s.Sweep(ctx); err != nil && ctx.Err() == nil {
				s.logger.ErrorContext(ctx, "old sign-ins and audit entries not removed; it is tried again", slog.Any("error", err))
			}
		case <-looks.C:
			err := s.look(ctx)
			if err != nil && !failing && ctx.Err() == nil {
				s.logger.ErrorContext(ctx, "watched users could not be read: who was removed elsewhere keeps the streams", slog.Any("error", err))
			}
			failing = err != nil
		}
	}
}

// look ends the watches of users who have changed.
func (s *Service) look(ctx context.Context) error {
	s.mu.Lock()
	began := maps.Clone(s.watches) // those that begin later have newer rows than are read here
	s.mu.Unlock()
	if len(began) == 0 {
		return nil
	}
	users, err := s.store.AllUsers(ctx)
	if err != nil {
		return err
	}
	present := map[string]gateway.User{}
	for _, user := range users {
		present[user.ID] = user
	}
	now := s.now()
	s.end(func(w *watch) bool {
		user, found := present[w.user.ID]
		_, old := began[w]
		return old && (!found || user.Epoch != w.user.Epoch || user.Role != w.user.Role || !now.Before(w.until))
	})
	return nil
}
