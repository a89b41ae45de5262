// Package eventlog is the append-only record of what happened in each instance.
// Webhooks and streams follow it from a cursor, so nothing is lost when a process
// dies.
//
// This package says what an event is, and has a type for the data of each kind. The
// store keeps the events; package webhook delivers them.
package eventlog

import (
	"context"
	"slices"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/required"
)

// Store keeps the events. Its errors say what was tried.
type Store interface {
	AppendEvents(ctx context.Context, instanceID string, events ...Event) error
	ReadEvents(ctx context.Context, instanceID string, after int64, limit int) ([]Event, error)
	ReadEventSlice(ctx context.Context, instanceID string, after int64, maxEvents, maxBytes int) ([]Event, error)
	EventBounds(ctx context.Context, instanceID string) (oldest, newest int64, err error)
	NewestEvents(ctx context.Context, instanceID string, kinds []Kind, from, before int64, limit int) ([]Event, error)
	EventsOfChat(ctx context.Context, instanceID string, chat gateway.Party, since, until time.Time, limit int) ([]Event, error)
}

// newestWindow is how many events are searched for those of some kinds at once.
const newestWindow = 3_000

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
	if err := required.Check("eventlog", config); err != nil {
		return nil, err
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
			return err
		}
		events = events[n:]
	}
	return nil
}

// Read returns the events of an instance after a sequence number, in order,
// limit at most.
func (l *Log) Read(ctx context.Context, instanceID string, after int64, limit int) ([]Event, error) {
	return l.config.Store.ReadEvents(ctx, instanceID, after, limit)
}

// ReadSlice is Read with a bound on the bytes of the events' data as well: the
// answer ends with the event that reaches it. It is empty only where nothing
// follows.
func (l *Log) ReadSlice(ctx context.Context, instanceID string, after int64, maxEvents, maxBytes int) ([]Event, error) {
	return l.config.Store.ReadEventSlice(ctx, instanceID, after, maxEvents, maxBytes)
}

// Bounds returns the oldest and the newest sequence number that are kept; 0 and
// 0 where there are no events yet.
func (l *Log) Bounds(ctx context.Context, instanceID string) (oldest, newest int64, err error) {
	return l.config.Store.EventBounds(ctx, instanceID)
}

// Newest returns the newest events of an instance before a sequence number, newest first,
// limit at most: of some kinds, or of all if no kinds are given. A number of 0 means all
// there are. Older is where the search can go on, by another call with that number; 0 if
// there are no more events. It is set even if fewer events than limit were found, because
// only some thousand are searched at a time.
func (l *Log) Newest(ctx context.Context, instanceID string, kinds []Kind, before int64, limit int) (events []Event, older int64, err error) {
	oldest, newest, err := l.Bounds(ctx, instanceID)
	if err != nil {
		return nil, 0, err
	}
	if before <= 0 || before > newest {
		before = newest + 1
	}
	from := max(before-newestWindow, oldest)
	events, err = l.config.Store.NewestEvents(ctx, instanceID, kinds, from, before, limit)
	if err != nil {
		return nil, 0, err
	}
	if len(events) == limit {
		from = events[limit-1].Sequence
	}
	if from <= oldest {
		from = 0
	}
	return events, from, nil
}

// OfChat returns the calls and the changes of the group that happened in a chat from one moment until before
// another, in order; the last ones, limit at most.
func (l *Log) OfChat(ctx context.Context, instanceID string, chat gateway.Party, since, until time.Time, limit int) ([]Event, error) {
	events, err := l.config.Store.EventsOfChat(ctx, instanceID, chat, since, until, limit)
	slices.Reverse(events)
	return events, err
}

// Follow returns a follower of an instance's events; the caller closes it. It
// reports every event that is appended after Follow returned.
func (l *Log) Follow(instanceID string) *Follower { return l.config.Bell.Follow(instanceID) }
