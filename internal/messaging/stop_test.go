package messaging_test

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging"
)

// While the database takes no writes, whoever waits for a turn is refused as soon as it is his, and does
// not find out for himself, one after another; when it takes them again, the next one has his turn.
func TestNobodyHasATurnWhileTheDatabaseFails(t *testing.T) {
	t.Parallel()
	var fails atomic.Bool
	service := messaging.NewWithout(messaging.Config{Stopping: t.Context(), DatabaseFails: fails.Load})
	done, err := service.Turn(t.Context(), "instance")
	if err != nil {
		t.Fatal(err)
	}
	const waiting = 3
	turns := make(chan error, waiting)
	for range waiting {
		go func() {
			done, err := service.Turn(t.Context(), "instance")
			if err == nil {
				done()
			}
			turns <- err
		}()
	}
	fails.Store(true)
	done()
	for range waiting {
		if err := <-turns; !errors.Is(err, gateway.ErrDatabaseAway) {
			t.Errorf("a turn ended with %v", err)
		}
	}
	fails.Store(false)
	if done, err = service.Turn(t.Context(), "instance"); err != nil {
		t.Fatal(err)
	}
	done()
}
