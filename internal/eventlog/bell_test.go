package eventlog_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/database"
)

// counted is a store that counts how often events are read, and can be made to wait before it returns
// what it has read.
type counted struct {
	*store.Store

	reads atomic.Int64
	hold  atomic.Pointer[chan struct{}]
}

func (c *counted) ReadEventSlice(ctx context.Context, instanceID string, after int64, maxEvents, maxBytes int) ([]eventlog.Event, error) {
	events, err := c.Store.ReadEventSlice(ctx, instanceID, after, maxEvents, maxBytes)
	c.reads.Add(1)
	if hold := c.hold.Load(); hold != nil {
		<-*hold
	}
	return events, err
}

// Followers that have read as far as each other read once for all of them, and nobody misses what was
// appended after a reading had begun.
func TestFollowersReadOnce(t *testing.T) {
	t.Parallel()
	bell := new(eventlog.Bell)
	data, err := store.Open(t.Context(), store.Config{Path: database.File(t), Bell: bell})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = data.Close() })
	reads := &counted{Store: data}
	log, err := eventlog.New(eventlog.Config{Store: reads, Bell: bell})
	if err != nil {
		t.Fatal(err)
	}
	var followers []*eventlog.Follower
	for range 50 {
		follower := log.Follow(instance)
		t.Cleanup(follower.Close)
		followers = append(followers, follower)
	}
	newest := func(by *eventlog.Follower, after int64) int64 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		events, err := log.ReadFollowed(ctx, by, after, 10, 1<<20)
		if err != nil {
			t.Error(err)
		}
		if len(events) == 0 {
			return after
		}
		return events[len(events)-1].Sequence
	}
	for n := range 3 {
		appendTest(t, log, n+1)
		before := reads.reads.Load()
		var all sync.WaitGroup
		for _, follower := range followers {
			all.Go(func() {
				if got := newest(follower, int64(n)); got != int64(n+1) {
					t.Errorf("after event %d somebody has read up to %d", n+1, got)
				}
			})
		}
		all.Wait()
		if took := reads.reads.Load() - before; took != 1 {
			t.Errorf("event %d was read %d times", n+1, took)
		}
	}
	// One is still reading what there was when another event is appended.
	hold := make(chan struct{})
	reads.hold.Store(&hold)
	before := reads.reads.Load()
	early := make(chan int64)
	go func() { early <- newest(followers[0], 3) }()
	for reads.reads.Load() == before { // until it has read that there is nothing
		runtime.Gosched()
	}
	reads.hold.Store(nil)
	appendTest(t, log, 4)
	if got := newest(followers[1], 3); got != 4 {
		t.Errorf("after event 4 somebody has read up to %d", got)
	}
	close(hold)
	if got := <-early; got != 3 {
		t.Errorf("what was read before event 4 goes up to %d", got)
	}
	if got := newest(followers[0], 3); got != 4 {
		t.Errorf("after event 4 the first one has read up to %d", got)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := log.ReadFollowed(ended, followers[2], 100, 10, 1<<20); err == nil {
		t.Error("who has gone reads on")
	}
	if got := newest(followers[3], 100); got != 100 {
		t.Errorf("after somebody else has gone, another has read up to %d", got)
	}
}
