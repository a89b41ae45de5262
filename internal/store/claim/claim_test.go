package claim_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/store/claim"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

// One process at a time works with a PostgreSQL database; the next one may when the
// first has gone.
func TestClaim(t *testing.T) {
	t.Parallel()
	url, logger := postgres.Start(t), slog.New(slog.DiscardHandler)
	first, err := claim.Take(t.Context(), url, logger)
	if err != nil {
		t.Fatal(err)
	}
	soon, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if _, err := claim.Take(soon, url, logger); !errors.Is(err, claim.ErrTaken) {
		t.Errorf("a second process is answered %v", err)
	}
	if _, err := claim.Take(unaware{t.Context(), time.Now().Add(3 * time.Second)}, url, logger); !errors.Is(err, claim.ErrTaken) {
		t.Errorf("a second process whose time is over within a try is answered %v", err)
	}
	taken := make(chan error, 1)
	go func() {
		second, err := claim.Take(t.Context(), url, logger)
		if err == nil {
			err = second.Close()
		}
		taken <- err
	}()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-taken; err != nil {
		t.Errorf("after the first has gone: %v", err)
	}
}

// unaware is a context whose time is over before it is done, as every context is for a moment. A
// connection keeps to the time.
type unaware struct {
	context.Context //nolint:containedctx // it is one

	at time.Time
}

func (u unaware) Deadline() (time.Time, bool) { return u.at, true }
