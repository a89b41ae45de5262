package eventlog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"
)

const (
	firstSweep = time.Minute
	// sweepPause is how often old events are looked for.
	sweepPause = 10 * time.Minute
	// sweepSlice bounds how many events one transaction removes, and with it how
	// long other writes wait for it.
	sweepSlice = 1_000
)

// Run removes events that are too old, every ten minutes until ctx ends. The
// first time is a minute after the start: those who deliver have to say first
// what was delivered, and a start has more urgent things to do.
func (l *Log) Run(ctx context.Context) error {
	timer := time.NewTimer(firstSweep)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil
		}
		if err := l.Sweep(ctx); err != nil && ctx.Err() == nil {
			l.config.Logger.ErrorContext(ctx, "old events not removed", slog.Any("error", err))
		}
		timer.Reset(sweepPause)
	}
}

// Sweep removes the events that are too old: those that were delivered, or that
// nobody waits for, after KeepDelivered; the others after KeepUndelivered, which
// is told by an events.expired event. The newest event of an instance stays,
// whatever its age.
func (l *Log) Sweep(ctx context.Context) error {
	ids, err := l.store.EventInstances(ctx)
	if err != nil {
		return fmt.Errorf("eventlog: sweep: %w", err)
	}
	var errs []error
	for _, id := range ids {
		if err := l.sweepInstance(ctx, id); err != nil {
			errs = append(errs, fmt.Errorf("eventlog: sweep: %w", err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(errs...)
}

func (l *Log) sweepInstance(ctx context.Context, instanceID string) error {
	now := l.config.Now()
	for {
		oldest, newest, err := l.store.EventBounds(ctx, instanceID)
		if err != nil || oldest == newest {
			return err
		}
		cursor, waiting := l.delivered(instanceID)
		last, err := l.store.LastEventBefore(ctx, instanceID, oldest-1, now.Add(-l.config.KeepDelivered), sweepSlice)
		if err != nil {
			return err
		}
		var expired []Event
		if waiting && last > cursor {
			lost, err := l.store.LastEventBefore(ctx, instanceID, oldest-1, now.Add(-l.config.KeepUndelivered), sweepSlice)
			if err != nil {
				return err
			}
			last = max(min(last, cursor), lost)
			if lost > cursor {
				if expired, err = expiredEvents(instanceID, max(oldest, cursor+1), min(lost, newest-1), now); err != nil {
					return err
				}
			}
		}
		if last < oldest || ctx.Err() != nil {
			return ctx.Err()
		}
		removed, err := l.store.DeleteEvents(ctx, instanceID, last, expired...)
		if err != nil || removed < sweepSlice {
			return err
		}
	}
}

// expiredEvents tells what is lost to those who waited for it.
func expiredEvents(instanceID string, from, to int64, now time.Time) ([]Event, error) {
	if to < from {
		return nil, nil
	}
	event, err := NewEvent(instanceID, "", "expired/"+strconv.FormatInt(from, 10)+"-"+strconv.FormatInt(to, 10),
		now, EventsExpired{FromSequence: from, ToSequence: to})
	return []Event{event}, err
}
