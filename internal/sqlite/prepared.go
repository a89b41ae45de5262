// Reading with statements that are kept prepared.

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// Prepared runs queries with statements that are prepared once: parsing a query costs
// SQLite more than answering it. So queries must be constants, or come from a small set. A
// query that has begun may go on although its context has ended. It is safe for
// concurrent use.
type Prepared struct {
	pool *sql.DB

	mu       sync.RWMutex
	prepared map[string]*sql.Stmt
}

// NewPrepared runs queries on the pool, which the caller closes after it.
func NewPrepared(pool *sql.DB) *Prepared {
	return &Prepared{pool: pool, prepared: map[string]*sql.Stmt{}}
}

// ExecContext runs a statement without rows.
func (r *Prepared) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return r.pool.ExecContext(ctx, query, args...) // it fails on a pool that only reads
}

// QueryContext runs a query.
func (r *Prepared) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	stmt, err := r.stmt(ctx, query) //nolint:sqlclosecheck // it is kept for the next query
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(uncut(ctx), args...)
}

// QueryRowContext runs a query and reads at most one row. Scan returns its errors,
// including sql.ErrNoRows.
func (r *Prepared) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	stmt, err := r.stmt(ctx, query) //nolint:sqlclosecheck // it is kept for the next query
	if err != nil {
		// Only an ordinary row can return the error; it fails in the same way.
		return r.pool.QueryRowContext(ctx, query, args...)
	}
	return stmt.QueryRowContext(uncut(ctx), args...)
}

// Scans are Prepared for queries that may take long: they stop when their context ends.
type Scans struct{ *Prepared }

// QueryContext runs a query.
func (s Scans) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	stmt, err := s.stmt(ctx, query) //nolint:sqlclosecheck // it is kept for the next query
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, args...)
}

// QueryRowContext runs a query and reads at most one row. Scan returns its errors,
// including sql.ErrNoRows.
func (s Scans) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	stmt, err := s.stmt(ctx, query) //nolint:sqlclosecheck // it is kept for the next query
	if err != nil {
		return s.pool.QueryRowContext(ctx, query, args...) // it fails the same way
	}
	return stmt.QueryRowContext(ctx, args...)
}

// uncut returns ctx without its end, unless it has ended already. Such a read takes
// microseconds. Watching for the end of the context would take two goroutines, and
// longer than the read.
func uncut(ctx context.Context) context.Context {
	if ctx.Err() != nil {
		return ctx
	}
	return context.WithoutCancel(ctx)
}

func (r *Prepared) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	r.mu.RLock()
	stmt, ok := r.prepared[query]
	r.mu.RUnlock()
	if ok {
		return stmt, nil
	}
	stmt, err := r.pool.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if first, ok := r.prepared[query]; ok {
		return first, stmt.Close() //nolint:sqlclosecheck // the other one is kept
	}
	r.prepared[query] = stmt
	return stmt, nil
}

// Close closes the statements. Queries under way must have returned.
func (r *Prepared) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for _, stmt := range r.prepared {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(errs...)
}
