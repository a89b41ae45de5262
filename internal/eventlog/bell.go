package eventlog

import "sync"

// Bell rings after events were committed. The store rings it; streams follow it,
// and the webhooks listen to it. Both then read the log: the bell only says that
// there is something to read. Its zero value is ready, and it is safe for
// concurrent use.
type Bell struct {
	mu        sync.Mutex
	followers map[string]map[*Follower]struct{}
	listeners []func(events []Event)
}

// Ring reports events of one instance that were committed. Those of one instance
// are reported in their order.
func (b *Bell) Ring(events []Event) {
	b.mu.Lock()
	for follower := range b.followers[events[0].InstanceID] {
		follower.wake()
	}
	listeners := b.listeners
	b.mu.Unlock()
	for _, listen := range listeners {
		listen(events)
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
	if b.followers == nil {
		b.followers = map[string]map[*Follower]struct{}{}
	}
	if b.followers[instanceID] == nil {
		b.followers[instanceID] = map[*Follower]struct{}{}
	}
	b.followers[instanceID][f] = struct{}{}
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
	followers := f.bell.followers[f.instanceID]
	delete(followers, f)
	if len(followers) == 0 {
		delete(f.bell.followers, f.instanceID)
	}
}

func (f *Follower) wake() {
	select {
	case f.appended <- struct{}{}:
	default: // it was woken already
	}
}
