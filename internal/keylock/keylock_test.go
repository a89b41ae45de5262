package keylock_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/recado-project/recado/internal/keylock"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestOneAtATime(t *testing.T) {
	t.Parallel()
	var locks keylock.Locks
	var working sync.WaitGroup
	counts := map[string]*int{"a": new(int), "b": new(int)}
	for range 100 {
		for key, count := range cases.Sorted(counts) {
			working.Go(func() {
				unlock, err := locks.Lock(t.Context(), key)
				if err != nil {
					t.Error(err)
					return
				}
				*count++ // the race detector sees two at a time
				unlock()
			})
		}
	}
	working.Wait()
	if *counts["a"] != 100 || *counts["b"] != 100 {
		t.Errorf("the locks were taken %d and %d times", *counts["a"], *counts["b"])
	}
}

func TestWaitingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	var locks keylock.Locks
	unlock, err := locks.Lock(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := locks.Lock(ctx, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller whose context has ended is answered %v", err)
	}
	if _, ok := locks.TryLock("a"); ok {
		t.Error("the lock was taken twice")
	}
	if unlock, ok := locks.TryLock("b"); !ok {
		t.Error("another key has to wait")
	} else {
		unlock()
	}
	unlock()
	if unlock, ok := locks.TryLock("a"); !ok {
		t.Error("the lock was not released")
	} else {
		unlock()
	}
}
