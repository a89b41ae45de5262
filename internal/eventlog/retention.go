// Retention removes events that are too old.

package eventlog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/required"
)

const (
	firstSweep = time.Minute
	// sweepPause is how often old events are looked for.
	sweepPause = 10 * time.Minute
	// sweepSlice bounds how many events one transaction removes, and with it how
	// long other writes wait for it.
	sweepSlice = 1_000
)

// RetentionStore finds and removes events that are too old.
type RetentionStore interface {
	EventInstances(ctx context.Context) ([]string, error)
	EventBounds(ctx context.Context, instanceID string) (oldest, newest int64, err error)
	LastEventBefore(ctx context.Context, instanceID string, after int64, before time.Time, limit int) (int64, error)
	DeleteEvents(ctx context.Context, instanceID string, through int64, events ...Event) (int64, error)
}

// RetentionConfig says how long events are kept. All fields are required.
type RetentionConfig struct {
	Store  RetentionStore
	Logger *slog.Logger
	// Delivered returns the sequence number up to which the events of an instance
	// were delivered, and whether somebody waits for the rest: only then the rest is
	// kept longer.
	Delivered   func(instanceID string) (cursor int64, waiting bool)
	Keep        func() Keep // is asked with every sweep, and may say another one each time
	Tenures     gateway.Tenures
	RemovalTime gateway.RemovalTime // by which time events are old
}

// Keep says how long events are kept. A duration that is not above zero means its default.
type Keep struct {
	// Delivered is how long an event is kept that was delivered, or that nobody waits for
	// (72 hours).
	Delivered time.Duration
	// Undelivered is how long an event is kept that could not be delivered (7 days). It is
	// never shorter than Delivered.
	Undelivered time.Duration
}

func (k Keep) withDefaults() Keep {
	k.Delivered = cmp.Or(max(k.Delivered, 0), 72*time.Hour)
	k.Undelivered = max(cmp.Or(max(k.Undelivered, 0), 7*24*time.Hour), k.Delivered)
	return k
}

// Retention removes events that are too old. It is safe for concurrent use.
type Retention struct {
	config RetentionConfig
}

// NewRetention makes the retention. Run removes.
func NewRetention(config RetentionConfig) (*Retention, error) {
	if err := required.Check("eventlog", config); err != nil {
		return nil, err
	}
	return &Retention{config: config}, nil
}

// Run removes events that are too old, every ten minutes until ctx ends. The
// first time is a minute after the start: by then it is known what was delivered,
// and a start has more urgent things to do.
func (r *Retention) Run(ctx context.Context) error {
	timer := time.NewTimer(firstSweep)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil
		}
		if err := r.Sweep(ctx); err != nil && ctx.Err() == nil {
			r.config.Logger.ErrorContext(ctx, "old events not removed", slog.Any("error", err))
		}
		timer.Reset(sweepPause)
	}
}

// Sweep removes the events that are too old: those that were delivered, or that
// nobody waits for, after Keep.Delivered; the others after Keep.Undelivered, and then
// an events.expired event says which were lost. The newest event of an instance is
// always kept, because it holds the last sequence number. A clock that is not to be trusted
// removes nothing.
func (r *Retention) Sweep(ctx context.Context) error {
	now, ok := r.config.RemovalTime(ctx)
	if !ok {
		return nil
	}
	ids, err := r.config.Store.EventInstances(ctx)
	if err != nil {
		return fmt.Errorf("eventlog: sweep: %w", err)
	}
	var errs []error
	for _, id := range ids {
		held, ok := r.config.Tenures.WithTenure(ctx, id)
		if !ok {
			continue
		}
		if err := r.sweepInstance(held, id, now); err != nil {
			errs = append(errs, fmt.Errorf("eventlog: sweep: %w", err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(errs...)
}

func (r *Retention) sweepInstance(ctx context.Context, instanceID string, now time.Time) error {
	for {
		oldest, newest, err := r.config.Store.EventBounds(ctx, instanceID)
		if err != nil || oldest == newest {
			return err
		}
		cursor, waiting := r.config.Delivered(instanceID)
		last, lost, err := r.tooOld(ctx, instanceID, oldest, cursor, waiting, now)
		if err != nil {
			return err
		}
		var expired []Event
		first, end := max(oldest, cursor+1), min(lost, newest-1)
		if lost > cursor {
			if expired, err = expiredEvents(instanceID, first, end, now); err != nil {
				return err
			}
		}
		if last < oldest || ctx.Err() != nil {
			return ctx.Err()
		}
		removed, err := r.config.Store.DeleteEvents(ctx, instanceID, last, expired...)
		if err == nil && len(expired) > 0 {
			r.lost(ctx, instanceID, first, end)
		}
		if err != nil || removed < sweepSlice {
			return err
		}
	}
}

// tooOld returns the last event that is too old, and the last of those that is even though somebody
// waits for it; 0 if there is none.
func (r *Retention) tooOld(
	ctx context.Context, instanceID string, oldest, cursor int64, waiting bool, now time.Time,
) (last, lost int64, err error) {
	keep := r.config.Keep().withDefaults()
	last, err = r.config.Store.LastEventBefore(ctx, instanceID, oldest-1, now.Add(-keep.Delivered), sweepSlice)
	if err != nil || !waiting || last <= cursor {
		return last, 0, err
	}
	lost, err = r.config.Store.LastEventBefore(ctx, instanceID, oldest-1, now.Add(-keep.Undelivered), sweepSlice)
	return max(min(last, cursor), lost), lost, err
}

func (r *Retention) lost(ctx context.Context, instanceID string, first, last int64) {
	r.config.Logger.WarnContext(ctx, "events removed that could not be delivered", slog.String("instance_id", instanceID),
		slog.Int64("events", last-first+1), slog.Int64("from_sequence", first), slog.Int64("to_sequence", last))
}

// expiredEvents makes the event that says which events were lost.
func expiredEvents(instanceID string, from, to int64, now time.Time) ([]Event, error) {
	if to < from {
		return nil, nil
	}
	event, err := NewEvent(instanceID, "", "expired/"+strconv.FormatInt(from, 10)+"-"+strconv.FormatInt(to, 10),
		now, EventsExpired{FromSequence: from, ToSequence: to})
	return []Event{event}, err
}
