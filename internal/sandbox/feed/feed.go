// Package feed wakes those who show a phone to people, when the phone shows
// something else than before.
package feed

import "sync"

// Bell rings after a change was committed that a phone shows. It only says that
// there is something to read: watchers read it from the services. Its zero value is
// ready, and it is safe for concurrent use.
type Bell struct {
	mu       sync.Mutex
	watchers map[string]map[*Watcher]struct{} // by number; everyPhone watches all
}

// everyPhone is the key of those who watch all phones. No phone has this number.
const everyPhone = ""

// Ring reports that the phone of a number shows something else now. It never waits
// for a watcher.
func (b *Bell) Ring(number string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for w := range b.watchers[number] {
		w.wake()
	}
	for w := range b.watchers[everyPhone] {
		w.wake()
	}
}

// RingAll reports that all phones may show something else now.
func (b *Bell) RingAll() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, watchers := range b.watchers {
		for w := range watchers {
			w.wake()
		}
	}
}

// Watch returns a watcher of the phone of a number in its canonical form. The caller
// closes it.
func (b *Bell) Watch(number string) *Watcher {
	w := &Watcher{bell: b, number: number, changed: make(chan struct{}, 1)}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.watchers == nil {
		b.watchers = map[string]map[*Watcher]struct{}{}
	}
	if b.watchers[number] == nil {
		b.watchers[number] = map[*Watcher]struct{}{}
	}
	b.watchers[number][w] = struct{}{}
	return w
}

// WatchAll returns a watcher of every phone, also of those that are made later. The
// caller closes it.
func (b *Bell) WatchAll() *Watcher { return b.Watch(everyPhone) }

// Watcher learns that a phone shows something else.
type Watcher struct {
	bell    *Bell
	number  string
	changed chan struct{}
}

// Changed is ready if something has changed since it was last received from. Many
// changes make it ready once.
func (w *Watcher) Changed() <-chan struct{} { return w.changed }

// Close ends the watching. It may be called twice.
func (w *Watcher) Close() {
	w.bell.mu.Lock()
	defer w.bell.mu.Unlock()
	watchers := w.bell.watchers[w.number]
	delete(watchers, w)
	if len(watchers) == 0 {
		delete(w.bell.watchers, w.number)
	}
}

func (w *Watcher) wake() {
	select {
	case w.changed <- struct{}{}:
	default: // it was woken already
	}
}
