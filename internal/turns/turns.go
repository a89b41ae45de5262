// Package turns lets one caller at a time work on one thing, while others work on
// other things.
package turns

import (
	"context"
	"sync"
)

// Turns are the turns at things that are named by keys. The zero value is ready. It
// is safe for concurrent use.
type Turns struct {
	mu    sync.Mutex
	taken map[string]chan struct{} // by key; closed when the turn is over
}

// Take waits for the turn at a thing. The caller calls done once; the error is that
// of ctx.
func (t *Turns) Take(ctx context.Context, key string) (done func(), err error) {
	for {
		done, other := t.try(key)
		if done != nil {
			return done, nil
		}
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// TryTake takes the turn at a thing unless somebody has it.
func (t *Turns) TryTake(key string) (done func(), ok bool) {
	done, _ = t.try(key)
	return done, done != nil
}

// try takes the turn, or returns what is closed when the one who has it is done.
func (t *Turns) try(key string) (done func(), other <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if other, busy := t.taken[key]; busy {
		return nil, other
	}
	if t.taken == nil {
		t.taken = map[string]chan struct{}{}
	}
	mine := make(chan struct{})
	t.taken[key] = mine
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.taken, key)
		close(mine)
	}, nil
}
