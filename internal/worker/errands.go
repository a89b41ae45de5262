// Work for instances that is asked for from anywhere, and that nobody waits for.

package worker

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/recado-project/recado/internal/gateway"
)

// maxErrands bounds for how many instances an errand runs at once: a platform that is silent to some of them
// holds no others.
const maxErrands = 16

// Errands run one function for each instance that they are asked to run it for: at once, at most one at a time for
// an instance, and once more if they are asked meanwhile. What is asked for is not kept beyond the process. They are
// safe for concurrent use.
type Errands struct {
	do func(ctx context.Context, instanceID string)

	mu    sync.Mutex
	asked map[string]gateway.Tenure
	busy  map[string]bool
	wake  chan struct{}
}

// NewErrands makes errands that do something for an instance, under the tenure with which they were asked. Run
// carries them out.
func NewErrands(do func(ctx context.Context, instanceID string)) *Errands {
	return &Errands{do: do, asked: map[string]gateway.Tenure{}, busy: map[string]bool{}, wake: make(chan struct{}, 1)}
}

// Ask asks for an errand of an instance. It does not wait.
func (e *Errands) Ask(ctx context.Context, instanceID string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked[instanceID] = gateway.TenureOf(ctx)
	e.wakeLocked()
}

func (e *Errands) wakeLocked() {
	select {
	case e.wake <- struct{}{}:
	default: // it was woken already
	}
}

// Run carries out errands until ctx ends, and returns when none runs any more.
func (e *Errands) Run(ctx context.Context) {
	var running errgroup.Group
	running.SetLimit(maxErrands)
	for {
		select {
		case <-ctx.Done():
			_ = running.Wait() // none has an error
			return
		case <-e.wake:
		}
		for id, tenure := range e.take() {
			running.Go(func() error {
				defer e.done(id)
				if ctx.Err() == nil {
					e.do(gateway.WithTenure(ctx, tenure), id)
				}
				return nil
			})
		}
	}
}

// take returns the errands to begin now.
func (e *Errands) take() map[string]gateway.Tenure {
	e.mu.Lock()
	defer e.mu.Unlock()
	begun := map[string]gateway.Tenure{}
	for id, tenure := range e.asked {
		if !e.busy[id] {
			begun[id], e.busy[id] = tenure, true
			delete(e.asked, id)
		}
	}
	return begun
}

func (e *Errands) done(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.busy, id)
	if _, again := e.asked[id]; again {
		e.wakeLocked()
	}
}
