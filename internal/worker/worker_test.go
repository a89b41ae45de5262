package worker_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recado-project/recado/internal/worker"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// journal notes who stopped when.
type journal struct {
	mu    sync.Mutex
	names []string
}

func (j *journal) worker(name string, started *sync.WaitGroup) worker.Worker {
	return worker.Worker{Name: name, Run: func(ctx context.Context) error {
		started.Done()
		<-ctx.Done()
		j.mu.Lock()
		defer j.mu.Unlock()
		j.names = append(j.names, name)
		return nil
	}}
}

func newGroup(t *testing.T, stopWait time.Duration, workers ...worker.Worker) *worker.Group {
	t.Helper()
	group, err := worker.New(worker.Config{Workers: workers, StopWait: stopWait, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return group
}

// Stopping a group before a worker is ready interrupts what that worker has begun: its error is no
// failure. Later, it is.
func TestInterruptedStart(t *testing.T) {
	t.Parallel()
	for _, wasReady := range []bool{false, true} {
		ready, running := make(chan struct{}), make(chan struct{})
		group := newGroup(t, time.Minute, worker.Worker{Name: "keys", Ready: ready, Run: func(ctx context.Context) error {
			if wasReady {
				close(ready)
			}
			close(running)
			<-ctx.Done()
			return errors.New("the database can't be reached: operation was canceled")
		}})
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-running; cancel() }()
		if err := group.Run(ctx); (err != nil) != wasReady {
			t.Errorf("ready %t: ended with %v", wasReady, err)
		}
	}
}

// A worker starts when the one before it is ready, and not at all where that ends
// before.
func TestGroupStartsInOrder(t *testing.T) {
	t.Parallel()
	var order journal
	note := func(name string) {
		order.mu.Lock()
		defer order.mu.Unlock()
		order.names = append(order.names, name)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ready := make(chan struct{})
	group := newGroup(t, time.Minute,
		worker.Worker{Name: "store", Ready: ready, Run: func(ctx context.Context) error {
			note("store is ready")
			close(ready)
			<-ctx.Done()
			return nil
		}},
		worker.Worker{Name: "http", Run: func(ctx context.Context) error {
			note("http starts")
			cancel()
			<-ctx.Done()
			return nil
		}})
	if err := group.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if want := []string{"store is ready", "http starts"}; !slices.Equal(order.names, want) {
		t.Errorf("it was %v, want %v", order.names, want)
	}
	broken := errors.New("broken")
	group = newGroup(t, time.Minute,
		worker.Worker{Name: "store", Ready: make(chan struct{}), Run: func(context.Context) error { return broken }},
		worker.Worker{Name: "http", Run: func(context.Context) error {
			t.Error("a worker starts though the one before it has failed")
			return nil
		}})
	if err := group.Run(t.Context()); !errors.Is(err, broken) {
		t.Errorf("a worker that fails before it is ready is answered %v", err)
	}
}

func TestGroupStopsTheLastFirst(t *testing.T) {
	t.Parallel()
	var stopped journal
	var started sync.WaitGroup
	started.Add(3)
	group := newGroup(t, time.Minute,
		stopped.worker("store", &started), stopped.worker("sessions", &started), stopped.worker("http", &started))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		started.Wait()
		cancel()
	}()
	if err := group.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if want := []string{"http", "sessions", "store"}; !slices.Equal(stopped.names, want) {
		t.Errorf("stopped %v, want %v", stopped.names, want)
	}
}

func TestGroupStopsWhenOneFails(t *testing.T) {
	t.Parallel()
	var stopped journal
	var started sync.WaitGroup
	started.Add(1)
	broken := errors.New("broken")
	group := newGroup(t, time.Minute,
		stopped.worker("sessions", &started),
		worker.Worker{Name: "http", Run: func(context.Context) error { return broken }})
	err := group.Run(t.Context())
	if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "http: ") {
		t.Errorf("returned %v", err)
	}
	if !slices.Equal(stopped.names, []string{"sessions"}) {
		t.Errorf("stopped %v", stopped.names)
	}
}

func TestGroupDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	stuck := worker.Worker{Name: "stuck", Run: func(context.Context) error {
		<-release
		return nil
	}}
	defer close(release)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := newGroup(t, time.Millisecond, stuck).Run(ctx)
	if err == nil || !strings.Contains(err.Error(), "stuck: did not stop") {
		t.Errorf("returned %v", err)
	}
}
