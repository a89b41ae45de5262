// The background work of messages: removal of what is old, and an end for what was
// never acknowledged.

package messaging

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

const (
	// sweepPause is the time between two sweeps of keys, changes and pending messages.
	sweepPause = time.Minute
	// sweepSlice bounds how many messages are read at once.
	sweepSlice = 500
	// changeAge is how long a change is kept: the platform may still refer to it. It
	// keeps what a phone did not fetch for 30 days.
	changeAge = 31 * 24 * time.Hour
)

// Run removes idempotency keys, changes and messages that have been kept long enough, and
// gives up messages that were never acknowledged, until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	var expiring sync.WaitGroup
	expiring.Go(func() { s.expire(ctx) })
	defer expiring.Wait()
	expiring.Go(func() { s.runQueue(ctx) })
	expiring.Go(func() { s.reads.Run(ctx) })
	ticker := time.NewTicker(sweepPause)
	defer ticker.Stop()
	for {
		if err := s.Sweep(ctx); err != nil && ctx.Err() == nil {
			s.config.Logger.ErrorContext(ctx, "old idempotency keys, changes and pending messages not swept; it is tried again", slog.Any("error", err))
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// Sweep removes idempotency keys and changes that have been kept long enough, and gives up messages
// that were never acknowledged.
func (s *Service) Sweep(ctx context.Context) error {
	now, ok := s.config.RemovalTime(ctx)
	if !ok {
		return nil
	}
	if _, err := s.config.Store.DeleteIdempotency(ctx, now.Add(-repeatAge)); err != nil {
		return fmt.Errorf("messaging: remove old idempotency keys: %w", err)
	}
	if _, err := s.config.Store.DeleteChanges(ctx, now.Add(-changeAge)); err != nil {
		return fmt.Errorf("messaging: remove old changes: %w", err)
	}
	return s.GiveUp(ctx, now.Add(-s.config.PendingLimit))
}

// GiveUp marks messages as failed that were accepted before a time and never acknowledged,
// and appends their events. After a stop many receipts may still be on their way, so it
// leaves out the instances that were taken up after that time. If the platform has one of them after all, a receipt moves it
// forward; a client that repeats its request with the same Idempotency-Key sends it under
// the same identifier.
func (s *Service) GiveUp(ctx context.Context, before time.Time) error {
	var last gateway.Position
	for {
		pending, err := s.config.Store.PendingMessages(ctx, last, before, sweepSlice)
		if err != nil {
			return fmt.Errorf("messaging: look for pending messages: %w", err)
		}
		for _, message := range pending {
			last = message.Position()
			held, ok := s.config.Tenures.WithTenure(ctx, message.InstanceID)
			if !ok || s.takenUpAfter(message.InstanceID, before) {
				continue
			}
			if err := s.failed(held, message, nil); err != nil && !errors.Is(err, gateway.ErrTenureOver) {
				return err
			}
		}
		if len(pending) < sweepSlice {
			return nil
		}
	}
}
