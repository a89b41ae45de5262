package store

import (
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/postgres"
)

// A database fails from the first write that it did not take until one that it takes. What it refuses for
// other reasons says nothing.
func TestWritesThatFail(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var writes writeHealth
		if writes.failing() != 0 {
			t.Error("it fails before anything was written")
		}
		_ = writes.translate(errors.New("a rule of the schema"))
		if writes.failing() != 0 {
			t.Error("a write that was refused counts as one that failed")
		}
		if err := writes.translate(fmt.Errorf("begin: %w", io.EOF)); !errors.Is(err, gateway.ErrDatabaseAway) {
			t.Errorf("error %v", err)
		}
		time.Sleep(4 * time.Second)
		_ = writes.translate(&postgres.UncertainError{Err: io.EOF})
		_ = writes.translate(errors.New("a rule of the schema"))
		if got := writes.failing(); got != 4*time.Second {
			t.Errorf("it fails for %s", got)
		}
		_ = writes.translate(nil)
		if writes.failing() != 0 {
			t.Error("it fails after a write that succeeded")
		}
		_ = writes.translate(&postgres.UncertainError{Err: io.EOF})
		if writes.failing() == 0 {
			t.Error("a commit whose end is not known does not count")
		}
	})
}
