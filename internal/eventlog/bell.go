package eventlog

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
)

// Bell rings after events were committed. The store rings it; streams follow it,
// and the webhooks listen to it. Both then read the log: the bell only says that
// there is something to read. Its zero value is ready, and it is safe for
// concurrent use.
type Bell struct {
	mu        sync.Mutex
	followed  map[string]*followed // by instance
	listeners []func(events []Event)
}

// followed is an instance that has followers.
type followed struct {
	followers map[*Follower]struct{}
	rings     int64      // how often the bell rang for it
	waking    bool       // its followers are being woken
	last      *sliceRead // what was read last for its followers
}

// Ring reports events of one instance that were committed. Those of one instance
// are reported in their order.
func (b *Bell) Ring(events []Event) {
	b.mu.Lock()
	if instance := b.followed[events[0].InstanceID]; instance != nil {
		instance.rings++
		if !instance.waking {
			instance.waking = true
			go b.wakeAll(instance)
		}
	}
	listeners := b.listeners
	b.mu.Unlock()
	for _, listen := range listeners {
		listen(events)
	}
}

// wakeAll wakes the followers of an instance one after another, and lets whoever waits for a processor go
// first: hundreds of them at once would stand before the requests of others, at every step of these.
func (b *Bell) wakeAll(instance *followed) {
	for woken := int64(0); ; {
		b.mu.Lock()
		if woken == instance.rings {
			instance.waking = false
			b.mu.Unlock()
			return
		}
		woken = instance.rings
		followers := slices.Collect(maps.Keys(instance.followers))
		b.mu.Unlock()
		for _, follower := range followers {
			follower.wake()
			runtime.Gosched()
		}
	}
}

// Listen calls listen after each commit from now on, with the events of one
// instance, in their order. Others wait for the same commit meanwhile, so listen
// must neither block nor use the store.
func (b *Bell) Listen(listen func(events []Event)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.listeners = append(b.listeners, listen)
}

// Follow returns a follower of an instance's events; the caller closes it.
func (b *Bell) Follow(instanceID string) *Follower {
	f := &Follower{bell: b, instanceID: instanceID, appended: make(chan struct{}, 1)}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.followed == nil {
		b.followed = map[string]*followed{}
	}
	if b.followed[instanceID] == nil {
		b.followed[instanceID] = &followed{followers: map[*Follower]struct{}{}}
	}
	b.followed[instanceID].followers[f] = struct{}{}
	return f
}

// Follower learns that there are more events of one instance to read.
type Follower struct {
	bell       *Bell
	instanceID string
	appended   chan struct{}
}

// Appended is ready if an event was appended since it was last received from.
func (f *Follower) Appended() <-chan struct{} { return f.appended }

// Close ends the following. It may be called twice.
func (f *Follower) Close() {
	f.bell.mu.Lock()
	defer f.bell.mu.Unlock()
	instance := f.bell.followed[f.instanceID]
	if instance == nil {
		return
	}
	delete(instance.followers, f)
	if len(instance.followers) == 0 {
		delete(f.bell.followed, f.instanceID)
	}
}

func (f *Follower) wake() {
	select {
	case f.appended <- struct{}{}:
	default: // it was woken already
	}
}

// slice is a part of the events of an instance, as ReadSlice has it.
type slice struct {
	after               int64
	maxEvents, maxBytes int
}

// sliceRead is one reading of a slice, for all who want it meanwhile and until there is more.
type sliceRead struct {
	slice

	rings  int64 // of the instance, before it began
	done   chan struct{}
	events []Event
	err    error
}

// join returns the reading of a slice that has everything for which the bell has rung so far, and whether
// it is the caller's to do.
func (f *Follower) join(wanted slice) (read *sliceRead, mine bool) {
	f.bell.mu.Lock()
	defer f.bell.mu.Unlock()
	instance := f.bell.followed[f.instanceID]
	if instance == nil { // the follower was closed
		return &sliceRead{done: make(chan struct{})}, true
	}
	if last := instance.last; last != nil && last.slice == wanted && last.rings == instance.rings {
		return last, false
	}
	instance.last = &sliceRead{slice: wanted, rings: instance.rings, done: make(chan struct{})}
	return instance.last, true
}

// ReadFollowed is ReadSlice for a follower. Those of one instance that have read as far as each other
// share what is read for one of them, so nobody may change it.
func (l *Log) ReadFollowed(ctx context.Context, by *Follower, after int64, maxEvents, maxBytes int) ([]Event, error) {
	read, mine := by.join(slice{after, maxEvents, maxBytes})
	if mine {
		read.events, read.err = l.ReadSlice(ctx, by.instanceID, after, maxEvents, maxBytes)
		close(read.done)
		return read.events, read.err
	}
	select {
	case <-read.done:
	case <-ctx.Done():
		return nil, fmt.Errorf("eventlog: read: %w", context.Cause(ctx))
	}
	if read.err != nil { // the end of the other's request, perhaps
		return l.ReadSlice(ctx, by.instanceID, after, maxEvents, maxBytes)
	}
	return read.events, nil
}
