package eventlog

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Store keeps the events.
type Store interface {
	AppendEvents(ctx context.Context, instanceID string, events ...Event) error
	ReadEvents(ctx context.Context, instanceID string, after int64, limit int) ([]Event, error)
	ReadEventSlice(ctx context.Context, instanceID string, after int64, maxEvents, maxBytes int) ([]Event, error)
	EventBounds(ctx context.Context, instanceID string) (oldest, newest int64, err error)
	EventInstances(ctx context.Context) ([]string, error)
	LastEventBefore(ctx context.Context, instanceID string, after int64, before time.Time, limit int) (int64, error)
	DeleteEvents(ctx context.Context, instanceID string, through int64, events ...Event) (int64, error)
}

// Config says how long events are kept. The zero value of a field means the
// default.
type Config struct {
	// KeepDelivered is how long an event is kept that was delivered, or that
	// nobody waits for (72 hours).
	KeepDelivered time.Duration
	// KeepUndelivered is how long an event is kept that could not be delivered
	// (7 days). It is never shorter than KeepDelivered.
	KeepUndelivered time.Duration
	Logger          *slog.Logger     // required
	Now             func() time.Time // nil: the wall clock
}

// Log is the events of all instances. It is safe for concurrent use.
type Log struct {
	store  Store
	config Config

	// delivered tells up to where an instance's events were delivered, and
	// whether anybody waits for them.
	delivered func(instanceID string) (cursor int64, waiting bool)

	mu        sync.Mutex
	followers map[string]map[*Follower]struct{}
	observers []func(events []Event)
}

// New makes the log. Run removes what is too old.
func New(store Store, config Config) *Log {
	if config.KeepDelivered == 0 {
		config.KeepDelivered = 72 * time.Hour
	}
	if config.KeepUndelivered == 0 {
		config.KeepUndelivered = 7 * 24 * time.Hour
	}
	config.KeepUndelivered = max(config.KeepUndelivered, config.KeepDelivered)
	if config.Now == nil {
		config.Now = time.Now
	}
	return &Log{
		store: store, config: config,
		delivered: func(string) (int64, bool) { return 0, false },
		followers: map[string]map[*Follower]struct{}{},
	}
}

// Append appends events and returns after their commit. Those of one instance
// get numbers in the order of the arguments; one whose source key is there
// already is passed over.
func (l *Log) Append(ctx context.Context, events ...Event) error {
	for len(events) > 0 {
		n := 1
		for n < len(events) && events[n].InstanceID == events[0].InstanceID {
			n++
		}
		if err := l.store.AppendEvents(ctx, events[0].InstanceID, events[:n]...); err != nil {
			return fmt.Errorf("eventlog: append: %w", err)
		}
		events = events[n:]
	}
	return nil
}

// Read returns the events of an instance after a sequence number, in order,
// limit at most.
func (l *Log) Read(ctx context.Context, instanceID string, after int64, limit int) ([]Event, error) {
	events, err := l.store.ReadEvents(ctx, instanceID, after, limit)
	if err != nil {
		return nil, fmt.Errorf("eventlog: read: %w", err)
	}
	return events, nil
}

// ReadSlice is Read with a bound on the bytes of the events' data as well: the
// answer ends with the event that reaches it. It is empty only where nothing
// follows.
func (l *Log) ReadSlice(ctx context.Context, instanceID string, after int64, maxEvents, maxBytes int) ([]Event, error) {
	events, err := l.store.ReadEventSlice(ctx, instanceID, after, maxEvents, maxBytes)
	if err != nil {
		return nil, fmt.Errorf("eventlog: read: %w", err)
	}
	return events, nil
}

// Bounds returns the oldest and the newest sequence number that are kept; 0 and
// 0 where nothing has happened yet.
func (l *Log) Bounds(ctx context.Context, instanceID string) (oldest, newest int64, err error) {
	oldest, newest, err = l.store.EventBounds(ctx, instanceID)
	if err != nil {
		return 0, 0, fmt.Errorf("eventlog: bounds: %w", err)
	}
	return oldest, newest, nil
}

// Observe makes observe hear of every event after its commit: those of one
// instance in their order. It must not block. Observe is called before Run.
func (l *Log) Observe(observe func(events []Event)) {
	l.observers = append(l.observers, observe)
}

// Delivered makes the log ask delivered up to where an instance's events were
// delivered, and whether somebody waits for the rest; only then the rest is kept
// longer. It is called before Run.
func (l *Log) Delivered(delivered func(instanceID string) (cursor int64, waiting bool)) {
	l.delivered = delivered
}

// Appended tells the log of events that were committed. The store calls it, in
// the order of the commits.
func (l *Log) Appended(events []Event) {
	l.mu.Lock()
	for follower := range l.followers[events[0].InstanceID] {
		follower.wake()
	}
	l.mu.Unlock()
	for _, observe := range l.observers {
		observe(events)
	}
}

// Follower is told that there is more to read of one instance.
type Follower struct {
	log        *Log
	instanceID string
	news       chan struct{}
}

// Follow returns a follower of an instance's events; the caller closes it. What
// is appended after Follow returned is told.
func (l *Log) Follow(instanceID string) *Follower {
	f := &Follower{log: l, instanceID: instanceID, news: make(chan struct{}, 1)}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.followers[instanceID] == nil {
		l.followers[instanceID] = map[*Follower]struct{}{}
	}
	l.followers[instanceID][f] = struct{}{}
	return f
}

// News is ready when something was appended since it was received from last.
func (f *Follower) News() <-chan struct{} { return f.news }

// Close ends the following. It may be called twice.
func (f *Follower) Close() {
	f.log.mu.Lock()
	defer f.log.mu.Unlock()
	followers := f.log.followers[f.instanceID]
	delete(followers, f)
	if len(followers) == 0 {
		delete(f.log.followers, f.instanceID)
	}
}

func (f *Follower) wake() {
	select {
	case f.news <- struct{}{}:
	default: // it knows already
	}
}
