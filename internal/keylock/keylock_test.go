package keylock_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

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

// Who waits gets the lock in turn, and who has gone is left out.
func TestLocksAreGivenInTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var locks keylock.Locks
		unlock, err := locks.Lock(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		gone, leave := context.WithCancelCause(t.Context())
		why := errors.New("gone")
		of := []context.Context{t.Context(), gone, t.Context(), t.Context(), t.Context()}
		var order []int
		var working sync.WaitGroup
		for n := range 5 {
			working.Go(func() {
				unlock, err := locks.Lock(of[n], "a")
				switch {
				case n == 1 && !errors.Is(err, why):
					t.Errorf("who has gone is answered %v", err)
				case n != 1 && err != nil:
					t.Error(err)
				case err == nil:
					order = append(order, n)
					unlock()
				}
			})
			synctest.Wait()
		}
		leave(why)
		synctest.Wait()
		unlock()
		working.Wait()
		if !slices.Equal(order, []int{0, 2, 3, 4}) {
			t.Errorf("the order was %v", order)
		}
		if unlock, ok := locks.TryLock("a"); !ok {
			t.Error("it is still held")
		} else {
			unlock()
		}
	})
}
