// Statements that are prepared once.

package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
)

// preparer is what statements are prepared on: *sql.DB and *sql.Conn.
type preparer interface {
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Prepared runs statements that are prepared once: parsing a query costs SQLite more than
// answering it. So queries must be constants, or come from a small set. On a pool it is safe
// for concurrent use.
type Prepared struct {
	on    preparer
	uncut bool // a query that has begun goes on although its context has ended

	mu       sync.RWMutex
	prepared map[string]*sql.Stmt
}

// NewPrepared runs queries on the pool, which the caller closes after it. A query that has
// begun may go on although its context has ended.
func NewPrepared(pool *sql.DB) *Prepared {
	return &Prepared{on: pool, uncut: true, prepared: map[string]*sql.Stmt{}}
}

// NewScans is NewPrepared for queries that may take long: they stop when their context ends.
func NewScans(pool *sql.DB) *Prepared { return &Prepared{on: pool, prepared: map[string]*sql.Stmt{}} }

// ExecContext runs a statement without rows. Its result has the number of rows that it
// changed, and may be asked after the commit.
func (p *Prepared) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	stmt, err := p.stmt(ctx, query) //nolint:sqlclosecheck // kept for the next time; Close closes it
	if err != nil {
		return nil, err
	}
	result, err := stmt.ExecContext(ctx, args...)
	if err != nil {
		return nil, err
	}
	// A caller that asked later would wait for the statement that runs then.
	changed, err := result.RowsAffected()
	return driver.RowsAffected(changed), err
}

// QueryContext runs a query. In a transaction, the rows must be closed before the next statement.
func (p *Prepared) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	stmt, err := p.stmt(ctx, query) //nolint:sqlclosecheck // kept for the next time; Close closes it
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(p.within(ctx), args...)
}

// QueryRowContext runs a query and reads at most one row. Scan returns its errors,
// including sql.ErrNoRows.
func (p *Prepared) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	stmt, err := p.stmt(ctx, query) //nolint:sqlclosecheck // kept for the next time; Close closes it
	if err != nil {
		// Only an ordinary row can return the error; it fails in the same way.
		return p.on.QueryRowContext(ctx, query, args...)
	}
	return stmt.QueryRowContext(p.within(ctx), args...)
}

// within returns ctx, or ctx without its end unless it has ended already. Such a read takes
// microseconds. Watching for the end of the context would take two goroutines, and
// longer than the read.
func (p *Prepared) within(ctx context.Context) context.Context {
	if !p.uncut || ctx.Err() != nil {
		return ctx
	}
	return context.WithoutCancel(ctx)
}

func (p *Prepared) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	p.mu.RLock()
	stmt, ok := p.prepared[query]
	p.mu.RUnlock()
	if ok {
		return stmt, nil
	}
	stmt, err := p.on.PrepareContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("sqlite: prepare: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if first, ok := p.prepared[query]; ok {
		return first, stmt.Close() //nolint:sqlclosecheck // the other one is kept
	}
	p.prepared[query] = stmt
	return stmt, nil
}

// Close closes the statements. Queries under way must have returned.
func (p *Prepared) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, stmt := range p.prepared {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(errs...)
}
