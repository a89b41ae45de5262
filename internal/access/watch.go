// Streams learn here that their key was revoked or has expired.

package access

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// watchPause is how often keys in use are looked at: whoever watches one knows
// within a second that it has ended, in whatever process it was revoked.
const watchPause = 500 * time.Millisecond

// watched is a key that somebody watches.
type watched struct {
	expiresAt time.Time
	ended     chan struct{} // closed when the key has ended
	watchers  int
}

// Watch returns a channel that is closed when the key ends: at once where it is
// revoked here, else while Run runs. The caller calls stop once.
func (s *Service) Watch(key gateway.Key) (ended <-chan struct{}, stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.watched[key.ID]
	if w == nil {
		w = &watched{expiresAt: key.ExpiresAt, ended: make(chan struct{})}
		s.watched[key.ID] = w
	}
	w.watchers++
	return w.ended, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		w.watchers--
		if w.watchers == 0 && s.watched[key.ID] == w {
			delete(s.watched, key.ID)
		}
	}
}

// end closes the channels of those who watch the keys.
func (s *Service) end(ids ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		if w := s.watched[id]; w != nil {
			close(w.ended)
			delete(s.watched, id)
		}
	}
}

// Run checks every second, until ctx ends, whether watched keys have ended. It asks
// the store once for all of them, and logs if that fails.
func (s *Service) Run(ctx context.Context) error {
	ticker := time.NewTicker(watchPause)
	defer ticker.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		err := s.look(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			s.logger.ErrorContext(ctx, "keys in use could not be checked: a key that was revoked elsewhere keeps its streams", slog.Any("error", err))
		}
		failing = err != nil
	}
}

func (s *Service) look(ctx context.Context) error {
	now := s.now()
	var expired []string
	s.mu.Lock()
	ids := slices.Collect(maps.Keys(s.watched))
	for id, w := range s.watched {
		if !w.expiresAt.IsZero() && !now.Before(w.expiresAt) {
			expired = append(expired, id)
		}
	}
	s.mu.Unlock()
	s.end(expired...)
	if len(ids) == 0 {
		return nil
	}
	revoked, err := s.store.RevokedKeys(ctx, ids)
	if err != nil {
		return err
	}
	s.end(revoked...)
	return nil
}
