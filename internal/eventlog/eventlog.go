// Package eventlog is the append-only record of what happened in each instance.
// Webhooks and streams follow it from a cursor, so nothing is lost when a process
// dies.
//
// This package says what an event is, and has a type for the data of each kind. The
// store keeps the events; package webhook delivers them.
package eventlog

import (
	"context"
	"errors"
	"fmt"
)

// Store keeps the events.
type Store interface {
	AppendEvents(ctx context.Context, instanceID string, events ...Event) error
	ReadEvents(ctx context.Context, instanceID string, after int64, limit int) ([]Event, error)
	ReadEventSlice(ctx context.Context, instanceID string, after int64, maxEvents, maxBytes int) ([]Event, error)
	EventBounds(ctx context.Context, instanceID string) (oldest, newest int64, err error)
}

// Config is what a Log stands on. Both are required.
type Config struct {
	Store Store
	Bell  *Bell // which the store rings after each commit
}

// Log is the events of all instances. It is safe for concurrent use.
type Log struct {
	config Config
}

// New makes the log.
func New(config Config) (*Log, error) {
	if config.Store == nil || config.Bell == nil {
		return nil, errors.New("eventlog: need a store and a bell")
	}
	return &Log{config: config}, nil
}

// Append appends events and returns after their commit. Those of one instance
// get numbers in the order of the arguments; one whose source key is in
// the log already is skipped.
func (l *Log) Append(ctx context.Context, events ...Event) error {
	for len(events) > 0 {
		n := 1
		for n < len(events) && events[n].InstanceID == events[0].InstanceID {
			n++
		}
		if err := l.config.Store.AppendEvents(ctx, events[0].InstanceID, events[:n]...); err != nil {
			return fmt.Errorf("eventlog: append: %w", err)
		}
		events = events[n:]
	}
	return nil
}

// Read returns the events of an instance after a sequence number, in order,
// limit at most.
func (l *Log) Read(ctx context.Context, instanceID string, after int64, limit int) ([]Event, error) {
	events, err := l.config.Store.ReadEvents(ctx, instanceID, after, limit)
	if err != nil {
		return nil, fmt.Errorf("eventlog: read: %w", err)
	}
	return events, nil
}

// ReadSlice is Read with a bound on the bytes of the events' data as well: the
// answer ends with the event that reaches it. It is empty only where nothing
// follows.
func (l *Log) ReadSlice(ctx context.Context, instanceID string, after int64, maxEvents, maxBytes int) ([]Event, error) {
	events, err := l.config.Store.ReadEventSlice(ctx, instanceID, after, maxEvents, maxBytes)
	if err != nil {
		return nil, fmt.Errorf("eventlog: read: %w", err)
	}
	return events, nil
}

// Bounds returns the oldest and the newest sequence number that are kept; 0 and
// 0 where there are no events yet.
func (l *Log) Bounds(ctx context.Context, instanceID string) (oldest, newest int64, err error) {
	oldest, newest, err = l.config.Store.EventBounds(ctx, instanceID)
	if err != nil {
		return 0, 0, fmt.Errorf("eventlog: bounds: %w", err)
	}
	return oldest, newest, nil
}

// Follow returns a follower of an instance's events; the caller closes it. It
// reports every event that is appended after Follow returned.
func (l *Log) Follow(instanceID string) *Follower { return l.config.Bell.Follow(instanceID) }
