package failure_test

import (
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/postgres"
	"github.com/recado-project/recado/internal/store/failure"
)

// A database fails from the first write that it did not take until one that it takes. What it refuses for
// other reasons says nothing.
func TestWritesThatFail(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var writes failure.Writes
		if writes.Failing() != 0 {
			t.Error("it fails before anything was written")
		}
		_ = writes.Translate(errors.New("a rule of the schema"))
		if writes.Failing() != 0 {
			t.Error("a write that was refused counts as one that failed")
		}
		if err := writes.Translate(fmt.Errorf("begin: %w", io.EOF)); !errors.Is(err, gateway.ErrDatabaseAway) {
			t.Errorf("error %v", err)
		}
		time.Sleep(4 * time.Second)
		_ = writes.Translate(&postgres.UncertainError{Err: io.EOF})
		_ = writes.Translate(errors.New("a rule of the schema"))
		if got := writes.Failing(); got != 4*time.Second {
			t.Errorf("it fails for %s", got)
		}
		_ = writes.Translate(nil)
		if writes.Failing() != 0 {
			t.Error("it fails after a write that succeeded")
		}
		_ = writes.Translate(&postgres.UncertainError{Err: io.EOF})
		if writes.Failing() == 0 {
			t.Error("a commit whose end is not known does not count")
		}
	})
}
