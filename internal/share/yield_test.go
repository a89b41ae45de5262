package share_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/recado-project/recado/internal/share"
)

// Work that nobody waits for takes half of the time, and stops resting when it has to end.
func TestRested(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		failure := errors.New("no")
		ctx, stop := context.WithCancel(t.Context())
		work := func() error {
			time.Sleep(time.Second)
			return failure
		}
		began := time.Now()
		if err := share.Rested(ctx, work); !errors.Is(err, failure) {
			t.Errorf("error %v, want that of the work", err)
		}
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("a second of work took %s, want 2s", took)
		}
		began = time.Now()
		stop()
		if err := share.Rested(ctx, work); !errors.Is(err, failure) {
			t.Errorf("error %v, want that of the work", err)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("a second of work took %s after the end, want 1s", took)
		}
	})
}
