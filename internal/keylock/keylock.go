// Package keylock is a lock for each key: one caller at a time works on one thing,
// while others work on other things. Waiting for a lock ends with a context, which
// the locks of package sync can't do.
package keylock

import (
	"context"
	"sync"
)

// Locks are the locks of all keys. A key that nobody holds takes no memory. The
// zero value is ready. It is safe for concurrent use.
type Locks struct {
	mu   sync.Mutex
	held map[string]chan struct{} // by key; closed when the lock is released
}

// Lock waits for the lock of a key. The caller calls unlock once; the error is that
// of ctx.
func (l *Locks) Lock(ctx context.Context, key string) (unlock func(), err error) {
	for {
		unlock, released := l.try(key)
		if unlock != nil {
			return unlock, nil
		}
		select {
		case <-released:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// TryLock takes the lock of a key unless it is held.
func (l *Locks) TryLock(key string) (unlock func(), ok bool) {
	unlock, _ = l.try(key)
	return unlock, unlock != nil
}

// try takes the lock, or returns a channel that is closed when it is released.
func (l *Locks) try(key string) (unlock func(), released <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if other, held := l.held[key]; held {
		return nil, other
	}
	if l.held == nil {
		l.held = map[string]chan struct{}{}
	}
	mine := make(chan struct{})
	l.held[key] = mine
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.held, key)
		close(mine)
	}, nil
}
