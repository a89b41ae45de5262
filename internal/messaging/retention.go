// The removal of old messages.

package messaging

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/share"
)

const (
	// retentionPause is the time between two searches for messages that have been kept
	// long enough.
	retentionPause = 10 * time.Minute
	// expiredAtOnce is how many messages are removed in one transaction, which everything else that is to be
	// written waits for.
	expiredAtOnce = 100
	// MinKeepMessages is the shortest time that messages may be kept: a client may
	// repeat its request for a day, and the answer is read from the message.
	MinKeepMessages = 25 * time.Hour
)

// expire removes messages that have been kept long enough, and those beyond the number
// that is kept, with their files, until ctx ends.
func (s *Service) expire(ctx context.Context) {
	ticker := time.NewTicker(retentionPause)
	defer ticker.Stop()
	for {
		if err := s.Expire(ctx); err != nil && ctx.Err() == nil {
			s.config.Logger.ErrorContext(ctx, "old messages not removed; it is tried again", slog.Any("error", err))
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// Expire removes the messages that have been kept long enough, and those beyond the
// number that is kept, with their files. It works in slices of a transaction each, so
// after an error a part may be removed. It does nothing if neither bound is set.
func (s *Service) Expire(ctx context.Context) error {
	if limits := s.limits(); limits.KeepMessages == 0 && limits.MaxMessages == 0 {
		return nil
	}
	now, ok := s.config.RemovalTime(ctx)
	if !ok {
		return nil
	}
	instances, err := s.config.Store.AllInstances(ctx)
	if err != nil {
		return fmt.Errorf("messaging: remove old messages: %w", err)
	}
	for _, instance := range instances {
		ctx, ok := s.config.Tenures.WithTenure(ctx, instance.ID)
		if !ok {
			continue
		}
		removed, err := s.expireOf(ctx, instance, now)
		if removed > 0 {
			s.config.Logger.InfoContext(ctx, "old messages removed",
				slog.String("instance_id", instance.ID), slog.Int("messages", removed))
		}
		if err != nil && !errors.Is(err, gateway.ErrTenureOver) {
			return fmt.Errorf("messaging: remove old messages: %w", err)
		}
	}
	return nil
}

func (s *Service) expireOf(ctx context.Context, instance gateway.Instance, now time.Time) (removed int, err error) {
	limits := s.limits()
	for _, old := range []struct {
		wanted bool
		find   func() ([]string, error)
	}{
		{limits.KeepMessages > 0, func() ([]string, error) {
			return s.config.Store.MessagesBefore(ctx, instance.ID, now.Add(-limits.KeepMessages), expiredAtOnce)
		}},
		{limits.MaxMessages > 0, func() ([]string, error) {
			return s.config.Store.MessagesBeyond(ctx, instance.ID, limits.MaxMessages, expiredAtOnce)
		}},
	} {
		for old.wanted {
			if err := share.Rested(ctx, func() error {
				n, err := s.expireSlice(ctx, instance.ID, old.find)
				removed += n
				old.wanted = n == expiredAtOnce
				return err
			}); err != nil {
				return removed, err
			}
		}
	}
	return removed, nil
}

// expireSlice removes the messages that find has found, and returns how many these were.
func (s *Service) expireSlice(ctx context.Context, instanceID string, find func() ([]string, error)) (removed int, err error) {
	ids, err := find()
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	// The files first: without its message a file could not be found any more.
	for _, id := range ids {
		s.removeFile(ctx, instanceID, id)
	}
	if err := s.config.Store.DeleteMessages(ctx, instanceID, ids); err != nil {
		return 0, err
	}
	return len(ids), nil
}
