// Package worker starts named pieces of background work in order, and stops them in
// the reverse order, so that none of them runs without what it stands on.
package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/recado-project/recado/internal/required"
)

// Worker is one piece of background work.
type Worker struct {
	Name string
	// Run works until ctx ends, then returns nil. If it returns earlier, with or
	// without an error, the whole group stops. An error after ctx has ended counts
	// unless Ready was never closed.
	Run func(ctx context.Context) error
	// StopWait is how long it may take to stop; 0: as long as Config says.
	StopWait time.Duration
	// Ready is closed by Run when the workers after this one may start; nil where
	// they need not wait.
	Ready <-chan struct{}
}

// Config is what a group is made of.
type Config struct {
	Workers  []Worker      // each stands on those before it
	StopWait time.Duration // how long one worker may take to stop before the one before it is stopped
	Logger   *slog.Logger  // required
}

// Group is a list of workers.
type Group struct {
	config Config
}

// New makes a group. Run starts it.
func New(config Config) (*Group, error) {
	if err := required.Check("worker", config); err != nil {
		return nil, err
	}
	if len(config.Workers) == 0 || config.StopWait <= 0 {
		return nil, errors.New("worker: the configuration lacks Workers or StopWait")
	}
	return &Group{config: config}, nil
}

// running is a worker that was started.
type running struct {
	name     string
	stopWait time.Duration
	stop     context.CancelFunc
	done     chan struct{}
	err      error
}

// Run starts the workers, each when the one before it is ready, and waits until ctx
// ends or one of them does. Then it stops them, the last first, and returns every
// worker's error.
func (g *Group) Run(ctx context.Context) error {
	ended := make(chan struct{})
	end := sync.OnceFunc(func() { close(ended) })
	started := make([]*running, 0, len(g.config.Workers))
	for _, w := range g.config.Workers {
		started = append(started, start(ctx, w, end))
		if w.Ready != nil && !await(ctx, w.Ready, ended) {
			break
		}
	}
	select {
	case <-ctx.Done():
	case <-ended:
	}
	return g.stop(context.WithoutCancel(ctx), started)
}

// await waits until a worker is ready. It reports false where the group is to stop
// before.
func await(ctx context.Context, ready, ended <-chan struct{}) bool {
	select {
	case <-ready:
		return true
	case <-ctx.Done():
		return false
	case <-ended:
		return false
	}
}

// start starts a worker, and calls end when it has ended.
func start(ctx context.Context, w Worker, end func()) *running {
	// A context of its own: the end of ctx must not stop all of them at once.
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	r := &running{name: w.Name, stopWait: w.StopWait, stop: stop, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		if err := w.Run(ctx); err != nil && !w.interrupted(ctx) {
			r.err = fmt.Errorf("%s: %w", w.Name, err)
		}
		end()
	}()
	return r
}

// interrupted reports whether a worker was stopped before it was ready. What it had begun fails
// then, which is no failure of its own.
func (w Worker) interrupted(ctx context.Context) bool {
	if w.Ready == nil || ctx.Err() == nil {
		return false
	}
	select {
	case <-w.Ready:
		return false
	default:
		return true
	}
}

func (g *Group) stop(ctx context.Context, started []*running) error {
	var errs []error
	for _, r := range slices.Backward(started) {
		r.stop()
		wait := cmp.Or(r.stopWait, g.config.StopWait)
		timer := time.NewTimer(wait)
		select {
		case <-r.done:
			errs = append(errs, r.err)
		case <-timer.C:
			errs = append(errs, fmt.Errorf("%s: did not stop within %s", r.name, wait))
		}
		timer.Stop()
		g.config.Logger.DebugContext(ctx, "worker stopped", slog.String("worker", r.name))
	}
	return errors.Join(errs...)
}
