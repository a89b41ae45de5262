// Package keylock is a lock for each key: one caller at a time works on one thing,
// while others work on other things. Who waits for a lock gets it in turn, and waiting
// ends with a context, which the locks of package sync can't do.
package keylock

import (
	"context"
	"slices"
	"sync"
)

// Locks are the locks of all keys. A key that nobody holds takes no memory. The
// zero value is ready. It is safe for concurrent use.
type Locks struct {
	mu sync.Mutex
	// held are the keys that are locked, each with those who wait for it; the channel of
	// one is closed when the lock is his.
	held map[string][]chan struct{}
}

// Lock waits for the lock of a key. The caller calls unlock once; the error is the
// cause of the end of ctx.
func (l *Locks) Lock(ctx context.Context, key string) (unlock func(), err error) {
	unlock, mine := l.try(key, true)
	if unlock != nil {
		return unlock, nil
	}
	select {
	case <-mine:
		return func() { l.unlock(key) }, nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	waiting := l.held[key]
	at := slices.Index(waiting, mine)
	if at >= 0 {
		l.held[key] = slices.Delete(waiting, at, at+1)
	}
	l.mu.Unlock()
	if at < 0 { // it was given in the same moment
		l.unlock(key)
	}
	return nil, context.Cause(ctx)
}

// TryLock takes the lock of a key unless it is held.
func (l *Locks) TryLock(key string) (unlock func(), ok bool) {
	unlock, _ = l.try(key, false)
	return unlock, unlock != nil
}

// try takes the lock. If it is held it waits in the line, if wanted, and returns what is closed when its
// turn has come.
func (l *Locks) try(key string, wait bool) (unlock func(), mine chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if waiting, held := l.held[key]; held {
		if wait {
			mine = make(chan struct{})
			l.held[key] = append(waiting, mine)
		}
		return nil, mine
	}
	if l.held == nil {
		l.held = map[string][]chan struct{}{}
	}
	l.held[key] = nil
	return func() { l.unlock(key) }, nil
}

// unlock gives the lock to who has waited longest.
func (l *Locks) unlock(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	waiting := l.held[key]
	if len(waiting) == 0 {
		delete(l.held, key)
		return
	}
	l.held[key] = waiting[1:]
	close(waiting[0])
}
