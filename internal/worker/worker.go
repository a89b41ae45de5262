// Package worker starts named pieces of background work in order and stops them
// in the reverse order, so that nobody is left without what it stands on.
package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Worker is one piece of background work.
type Worker struct {
	Name string
	// Run works until ctx ends, then returns nil. Returning earlier, with or
	// without an error, stops the whole group.
	Run func(ctx context.Context) error
}

// Group is a list of workers: each stands on those before it.
type Group struct {
	workers []Worker
	// stopWait is how long one worker may take to stop before the next is told.
	stopWait time.Duration
	logger   *slog.Logger
}

// NewGroup makes a group. stopWait bounds the stop of each worker.
func NewGroup(logger *slog.Logger, stopWait time.Duration, workers ...Worker) *Group {
	return &Group{workers: workers, stopWait: stopWait, logger: logger}
}

// running is a worker that was started.
type running struct {
	name string
	stop context.CancelFunc
	done chan struct{}
	err  error
}

// Run starts the workers and waits until ctx ends or one of them does. Then it
// stops them, the last first, and returns every worker's error.
func (g *Group) Run(ctx context.Context) error {
	ended := make(chan struct{})
	var once sync.Once
	started := make([]*running, 0, len(g.workers))
	for _, w := range g.workers {
		// Their own contexts: the end of ctx must not stop all of them at once.
		workCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
		r := &running{name: w.Name, stop: stop, done: make(chan struct{})}
		started = append(started, r)
		go func() {
			defer close(r.done)
			if err := w.Run(workCtx); err != nil {
				r.err = fmt.Errorf("%s: %w", w.Name, err)
			}
			once.Do(func() { close(ended) })
		}()
	}
	select {
	case <-ctx.Done():
	case <-ended:
	}
	return g.stop(context.WithoutCancel(ctx), started)
}

func (g *Group) stop(ctx context.Context, started []*running) error {
	var errs []error
	for _, r := range slices.Backward(started) {
		r.stop()
		timer := time.NewTimer(g.stopWait)
		select {
		case <-r.done:
			errs = append(errs, r.err)
		case <-timer.C:
			errs = append(errs, fmt.Errorf("%s: did not stop within %s", r.name, g.stopWait))
		}
		timer.Stop()
		g.logger.DebugContext(ctx, "worker stopped", slog.String("worker", r.name))
	}
	return errors.Join(errs...)
}
