package claim_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/recado-project/recado/internal/store/claim"
	"github.com/recado-project/recado/internal/testkit/await"
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

// A process whose connection is cut off has its claim again, although the server does not know yet
// that the connection is gone.
func TestClaimOutlivesItsConnection(t *testing.T) {
	t.Parallel()
	url := postgres.Start(t)
	through, _, cut := postgres.Forgetful(t, url)
	held, err := claim.Take(t.Context(), through, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	watcher, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = watcher.Close() })
	holder := func() (process int) {
		if err := watcher.QueryRowContext(t.Context(), `SELECT COALESCE(MIN(l.pid), 0) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
			WHERE l.locktype = 'advisory' AND d.datname = current_database()`).Scan(&process); err != nil {
			t.Error(err)
		}
		return process
	}
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- held.Run(ctx) }()
	before := holder()
	cut()
	if now := holder(); now != before || now == 0 {
		t.Fatalf("the server has noticed that the connection is gone: %d has the lock, and %d had it", now, before)
	}
	await.Until(t, "the claim is taken again", func() bool {
		now := holder()
		return now != 0 && now != before || len(ran) > 0
	})
	stop()
	if err := errors.Join(<-ran, held.Close()); err != nil {
		t.Errorf("the claim was lost: %v", err)
	}
}
