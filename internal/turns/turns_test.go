package turns_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/recado-project/recado/internal/turns"
)

func TestOneAtATime(t *testing.T) {
	t.Parallel()
	var all turns.Turns
	var working sync.WaitGroup
	counts := map[string]*int{"a": new(int), "b": new(int)}
	for range 100 {
		for key, count := range counts {
			working.Go(func() {
				done, err := all.Take(t.Context(), key)
				if err != nil {
					t.Error(err)
					return
				}
				*count++ // the race detector sees two at a time
				done()
			})
		}
	}
	working.Wait()
	if *counts["a"] != 100 || *counts["b"] != 100 {
		t.Errorf("%d and %d turns were taken", *counts["a"], *counts["b"])
	}
}

func TestWaitingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	var all turns.Turns
	done, err := all.Take(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := all.Take(ctx, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("somebody who has left is answered %v", err)
	}
	if _, ok := all.TryTake("a"); ok {
		t.Error("the turn was taken twice")
	}
	if done, ok := all.TryTake("b"); !ok {
		t.Error("another thing has to wait")
	} else {
		done()
	}
	done()
	if done, ok := all.TryTake("a"); !ok {
		t.Error("the turn was not given back")
	} else {
		done()
	}
}
