// Package failure says what callers may know of an error of the database: that a tenure is over,
// or that the database can't be reached or can't write, and nothing was written. The store passes everything
// that comes from there through it.
package failure

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/groupcommit"
	"github.com/recado-project/recado/internal/postgres"
	"github.com/recado-project/recado/internal/sqlerror"
	"github.com/recado-project/recado/internal/store/table"
)

// Translate returns gateway.ErrTenureOver for a tenure that is over, an error with
// gateway.ErrDatabaseAway in its chain if the database can't be reached and it is certain that
// nothing was written, gateway.ErrDatabaseLost if that is not certain, and every other error as it is.
func Translate(err error) error {
	if sqlerror.IsTenureOver(err) {
		return gateway.ErrTenureOver
	}
	if err == nil || !sqlerror.IsAway(err) {
		return err
	}
	if _, uncertain := errors.AsType[*postgres.UncertainError](err); uncertain {
		return fmt.Errorf("%w: %w", gateway.ErrDatabaseLost, err)
	}
	return fmt.Errorf("%w: %w", gateway.ErrDatabaseAway, err)
}

// Writes notes what becomes of writes: whether the database takes any. The zero value is ready. It is
// safe for concurrent use.
type Writes struct {
	mu    sync.Mutex
	since time.Time // the first one that failed after the last that did not; zero: none
}

// Translate is Translate for the error of a write, which it notes.
func (w *Writes) Translate(err error) error {
	err = Translate(err)
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err == nil:
		w.since = time.Time{}
	case w.since.IsZero() && isAway(err):
		w.since = time.Now() //nolint:forbidigo // only the time that passes counts
	}
	return err
}

// Failing returns for how long no write has succeeded, though some were tried; 0 if the last one did.
func (w *Writes) Failing() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.since.IsZero() {
		return 0
	}
	return max(time.Since(w.since), 1)
}

// isAway reports whether a database is away, whatever it has written.
func isAway(err error) bool {
	return errors.Is(err, gateway.ErrDatabaseAway) || errors.Is(err, gateway.ErrDatabaseLost)
}

// Pending is a write whose error is translated.
type Pending struct {
	groupcommit.Pending

	Writes *Writes
}

// Wait waits for the result.
func (p Pending) Wait() error { return p.Writes.Translate(p.Pending.Wait()) }

// WaitSoon waits for the result, a moment longer.
func (p Pending) WaitSoon() error { return p.Writes.Translate(p.Pending.WaitSoon()) }

// Reader is a querier that only reads, whose errors are translated.
type Reader struct{ table.Querier }

// QueryContext runs a query.
func (r Reader) QueryContext(ctx context.Context, query string, args ...any) (table.Rows, error) {
	found, err := r.Querier.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, Translate(err)
	}
	return rows{found}, nil
}

// QueryRowContext runs a query for one row.
func (r Reader) QueryRowContext(ctx context.Context, query string, args ...any) table.Scanner {
	return row{r.Querier.QueryRowContext(ctx, query, args...)}
}

// rows are those of a query.
type rows struct{ table.Rows }

// Err returns why there are no more rows.
func (r rows) Err() error { return Translate(r.Rows.Err()) }

// row is the one of a query.
type row struct{ table.Scanner }

// Scan reads the row.
func (r row) Scan(dest ...any) error { return Translate(r.Scanner.Scan(dest...)) }
