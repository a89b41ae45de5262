package messaging

import (
	"context"
	"sync"
)

// turns lets one caller at a time change a message: what may be done to it
// depends on what was done before. The zero value is ready.
type turns struct {
	mu    sync.Mutex
	taken map[string]chan struct{} // by message; closed when the turn is over
}

// take waits for the turn at a message. The caller calls done once; the error is
// that of ctx.
func (t *turns) take(ctx context.Context, messageID string) (done func(), err error) {
	for {
		t.mu.Lock()
		other, busy := t.taken[messageID]
		if !busy {
			break
		}
		t.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	defer t.mu.Unlock()
	if t.taken == nil {
		t.taken = map[string]chan struct{}{}
	}
	mine := make(chan struct{})
	t.taken[messageID] = mine
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.taken, messageID)
		close(mine)
	}, nil
}
