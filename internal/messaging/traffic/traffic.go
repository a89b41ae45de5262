// Package traffic counts how many messages go through each instance in an hour.
package traffic

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/required"
)

// trafficHours is how many hours are remembered: as many as the longest day has.
const trafficHours = 25

// Store counts the messages that an earlier process has stored.
type Store interface {
	CountTraffic(ctx context.Context, instanceID string, from, until time.Time) ([]gateway.Traffic, error)
}

// Config is what a Traffic stands on. The first part is required.
type Config struct {
	Store  Store
	Bell   *eventlog.Bell // rings after each commit of events
	Logger *slog.Logger

	Tenures gateway.Tenures  // nil: the process works for every instance
	Now     func() time.Time // nil: the wall clock
}

// Traffic counts the messages that each instance receives and sends in an hour. It counts
// in memory, as events are appended, so it costs the messages nothing; Run adds what an
// earlier process had. A message that was on its way when its instance was taken up may count
// twice. It is safe for concurrent use.
type Traffic struct {
	config Config

	mu        sync.Mutex
	instances map[string]*[trafficHours]gateway.Traffic // an hour has its place by its number
	unread    []unread
	wake      chan struct{} // there is something unread
}

// unread is an instance whose messages from before a time are not counted yet.
type unread struct {
	instanceID string
	until      time.Time
}

// New makes the count, which begins at once.
func New(config Config) (*Traffic, error) {
	if err := required.Check("traffic", config, "Now", "Tenures"); err != nil {
		return nil, err
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	if config.Tenures == nil {
		config.Tenures = gateway.Alone{}
	}
	t := &Traffic{config: config, instances: map[string]*[trafficHours]gateway.Traffic{}, wake: make(chan struct{}, 1)}
	config.Bell.Listen(t.appended)
	return t, nil
}

// Run counts the messages that the instances of TakeUp had before, and forgets instances
// without messages from time to time, until ctx ends.
func (t *Traffic) Run(ctx context.Context) error {
	ticker := time.NewTicker(time.Hour)
	defer ticker.Stop()
	for {
		select {
		case <-t.wake:
			t.readAll(ctx)
		case <-ticker.C:
			t.forget()
		case <-ctx.Done():
			return nil
		}
	}
}

// TakeUp counts instances that this process works for from now on. What they had before is
// counted by Run.
func (t *Traffic) TakeUp(tenures []gateway.Tenure) {
	now := t.config.Now()
	t.mu.Lock()
	for _, tenure := range tenures {
		delete(t.instances, tenure.InstanceID)
		t.unread = append(t.unread, unread{tenure.InstanceID, now})
	}
	t.mu.Unlock()
	select {
	case t.wake <- struct{}{}:
	default: // it was woken already
	}
}

// LetGo forgets instances that this process does not work for any more.
func (t *Traffic) LetGo(tenures []gateway.Tenure) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, tenure := range tenures {
		delete(t.instances, tenure.InstanceID)
		t.unread = slices.DeleteFunc(t.unread, func(u unread) bool { return u.instanceID == tenure.InstanceID })
	}
}

// readAll counts what is unread.
func (t *Traffic) readAll(ctx context.Context) {
	for ctx.Err() == nil {
		t.mu.Lock()
		if len(t.unread) == 0 {
			t.mu.Unlock()
			return
		}
		next := t.unread[0]
		t.unread = t.unread[1:]
		t.mu.Unlock()
		first := next.until.Truncate(time.Hour).Add(-(trafficHours - 1) * time.Hour)
		hours, err := t.config.Store.CountTraffic(ctx, next.instanceID, first, next.until)
		if err != nil && ctx.Err() == nil {
			t.config.Logger.ErrorContext(ctx, "messages from before the start not counted",
				slog.String("instance_id", next.instanceID), slog.Any("error", err))
		}
		t.mu.Lock()
		for _, hour := range hours {
			t.add(next.instanceID, hour)
		}
		t.mu.Unlock()
	}
}

// appended counts the messages among events that were committed. The bell calls it.
func (t *Traffic) appended(events []eventlog.Event) {
	more := gateway.Traffic{}
	for _, event := range events {
		switch event.Kind {
		case eventlog.KindMessageReceived:
			more.Received++
		case eventlog.KindMessageSent:
			more.Sent++
		default:
		}
	}
	if more == (gateway.Traffic{}) {
		return
	}
	more.Hour = t.config.Now().UTC().Truncate(time.Hour)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(events[0].InstanceID, more)
}

// add adds to an hour. The lock is held.
func (t *Traffic) add(instanceID string, more gateway.Traffic) {
	hours := t.instances[instanceID]
	if hours == nil {
		hours = new([trafficHours]gateway.Traffic)
		t.instances[instanceID] = hours
	}
	hour := &hours[placeOf(more.Hour)]
	switch {
	case hour.Hour.Before(more.Hour):
		*hour = more
	case hour.Hour.Equal(more.Hour):
		hour.Received += more.Received
		hour.Sent += more.Sent
	}
}

func placeOf(hour time.Time) int64 { return hour.Unix() / 3600 % trafficHours }

// Hours returns the last 24 hours of an instance, the one that runs at the end.
func (t *Traffic) Hours(instanceID string) []gateway.Traffic {
	const shown = 24
	hour := t.config.Now().UTC().Truncate(time.Hour).Add(-(shown - 1) * time.Hour)
	all := make([]gateway.Traffic, 0, shown)
	t.mu.Lock()
	defer t.mu.Unlock()
	hours := t.instances[instanceID]
	for range shown {
		one := gateway.Traffic{Hour: hour}
		if hours != nil && hours[placeOf(hour)].Hour.Equal(hour) {
			one = hours[placeOf(hour)]
		}
		all = append(all, one)
		hour = hour.Add(time.Hour)
	}
	return all
}

// Since returns the traffic of instances in the hours since a time, beginning with the hour
// that it is in. The last 25 hours are known. Those of instances that another node works for
// are counted in the database.
func (t *Traffic) Since(ctx context.Context, since time.Time, instanceIDs []string) (map[string]gateway.Traffic, error) {
	now := t.config.Now().UTC().Truncate(time.Hour)
	first := since.UTC().Truncate(time.Hour)
	if oldest := now.Add(-(trafficHours - 1) * time.Hour); first.Before(oldest) {
		first = oldest
	}
	sums := make(map[string]gateway.Traffic, len(instanceIDs))
	for _, id := range instanceIDs {
		sum := gateway.Traffic{Hour: first}
		if _, here := t.config.Tenures.WithTenure(ctx, id); here {
			continue
		}
		hours, err := t.config.Store.CountTraffic(ctx, id, first, t.config.Now())
		if err != nil {
			return nil, err
		}
		for _, hour := range hours {
			sum.Received += hour.Received
			sum.Sent += hour.Sent
		}
		sums[id] = sum
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, id := range instanceIDs {
		sum := gateway.Traffic{Hour: first}
		if _, counted := sums[id]; counted {
			continue
		}
		if hours := t.instances[id]; hours != nil {
			for _, hour := range hours {
				if !hour.Hour.Before(first) {
					sum.Received += hour.Received
					sum.Sent += hour.Sent
				}
			}
		}
		sums[id] = sum
	}
	return sums, nil
}

// forget drops the instances whose messages are all too old, so that those that were
// deleted do not stay for ever.
func (t *Traffic) forget() {
	oldest := t.config.Now().Add(-trafficHours * time.Hour)
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, hours := range t.instances {
		old := true
		for _, hour := range hours {
			old = old && hour.Hour.Before(oldest)
		}
		if old {
			delete(t.instances, id)
		}
	}
}
