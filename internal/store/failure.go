// What callers may know of an error of the database: that a tenure is over, or that the database
// can't be reached or can't write, and nothing was written. Every error from there is translated.

package store

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

// translate returns gateway.ErrTenureOver for a tenure that is over, an error with
// gateway.ErrDatabaseAway in its chain if the database can't be reached and it is certain that
// nothing was written, gateway.ErrDatabaseLost if that is not certain, and every other error as it is.
func translate(err error) error {
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

// writeHealth tracks whether writes succeed. The zero value is ready. It is safe for concurrent use.
type writeHealth struct {
	mu    sync.Mutex
	since time.Time // the first one that failed after the last that did not; zero: none
}

// translate is translate for the error of a write, which it notes.
func (w *writeHealth) translate(err error) error {
	err = translate(err)
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err == nil:
		w.since = time.Time{}
	case w.since.IsZero() && (errors.Is(err, gateway.ErrDatabaseAway) || errors.Is(err, gateway.ErrDatabaseLost)):
		w.since = time.Now() //nolint:forbidigo // only the time that passes counts
	}
	return err
}

// failing returns for how long no write has succeeded, though some were tried; 0 if the last one did.
func (w *writeHealth) failing() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.since.IsZero() {
		return 0
	}
	return max(time.Since(w.since), 1)
}

// translatedPending is a write whose error is translated.
type translatedPending struct {
	groupcommit.Pending

	writes *writeHealth
}

// Wait waits for the result.
func (p translatedPending) Wait() error { return p.writes.translate(p.Pending.Wait()) }

// WaitSoon waits for the result, a moment longer.
func (p translatedPending) WaitSoon() error { return p.writes.translate(p.Pending.WaitSoon()) }

// translatedReader is a querier that only reads, whose errors are translated.
type translatedReader struct{ table.Querier }

// QueryContext runs a query.
func (r translatedReader) QueryContext(ctx context.Context, query string, args ...any) (table.Rows, error) {
	found, err := r.Querier.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, translate(err)
	}
	return translatedRows{found}, nil
}

// QueryRowContext runs a query for one row.
func (r translatedReader) QueryRowContext(ctx context.Context, query string, args ...any) table.Scanner {
	return translatedRow{r.Querier.QueryRowContext(ctx, query, args...)}
}

type translatedRows struct{ table.Rows }

// Err returns why there are no more rows.
func (r translatedRows) Err() error { return translate(r.Rows.Err()) }

type translatedRow struct{ table.Scanner }

// Scan reads the row.
func (r translatedRow) Scan(dest ...any) error { return translate(r.Scanner.Scan(dest...)) }
