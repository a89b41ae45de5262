package store

import (
	"context"
	"database/sql"
	"errors"
	"sync"

	"github.com/recado-project/recado/internal/groupcommit"
	"github.com/recado-project/recado/internal/sqlite"
)

// sqliteDatabase is a SQLite file. Writes share commits; reads don't wait for them.
type sqliteDatabase struct {
	db    *sqlite.DB
	reads *preparedReader
	// short and long are reads, made once for all queries.
	short, long querier
}

func openSQLite(ctx context.Context, path string) (*sqliteDatabase, error) {
	db, err := sqlite.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	reads := &preparedReader{pool: db.Reader(), prepared: map[string]*sql.Stmt{}}
	return &sqliteDatabase{db: db, reads: reads, short: querierOf(reads), long: querierOf(scans{reads})}, nil
}

func (d *sqliteDatabase) write(ctx context.Context, fn func(ctx context.Context, q querier) error) error {
	return d.db.Write(ctx, func(ctx context.Context, tx *sqlite.Tx) error { return fn(ctx, querierOf(tx)) })
}

func (d *sqliteDatabase) begin(
	ctx context.Context, _ string, fn func(ctx context.Context, q querier) error, committed func(),
) groupcommit.Pending {
	return d.db.Begin(ctx, func(ctx context.Context, tx *sqlite.Tx) error { return fn(ctx, querierOf(tx)) }, committed)
}

func (d *sqliteDatabase) exec(ctx context.Context, query string, args ...any) (int64, error) {
	var changed int64
	err := d.db.Write(ctx, func(ctx context.Context, tx *sqlite.Tx) error {
		result, err := tx.ExecContext(ctx, query, args...)
		if err != nil {
			return err
		}
		changed, err = result.RowsAffected()
		return err
	})
	return changed, err
}

func (d *sqliteDatabase) reader() querier { return d.short }

func (d *sqliteDatabase) scanner() querier { return d.long }

func (d *sqliteDatabase) ping(ctx context.Context) error {
	var one int
	return d.reads.QueryRowContext(ctx, "SELECT 1").Scan(&one)
}

func (d *sqliteDatabase) close() error {
	return errors.Join(d.reads.close(), d.db.Close())
}

// preparedReader runs queries with statements that are prepared once: parsing a query
// costs SQLite more than answering it.
type preparedReader struct {
	pool *sql.DB

	mu       sync.RWMutex
	prepared map[string]*sql.Stmt
}

func (r *preparedReader) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return r.pool.ExecContext(ctx, query, args...) // it fails: this pool only reads
}

func (r *preparedReader) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	stmt, err := r.stmt(ctx, query) //nolint:sqlclosecheck // it is kept for the next query
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(uncut(ctx), args...)
}

func (r *preparedReader) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	stmt, err := r.stmt(ctx, query) //nolint:sqlclosecheck // it is kept for the next query
	if err != nil {
		// Only an ordinary row can return the error; it fails in the same way.
		return r.pool.QueryRowContext(ctx, query, args...)
	}
	return stmt.QueryRowContext(uncut(ctx), args...)
}

// scans runs queries that may take long, and stops them when their context ends.
type scans struct{ *preparedReader }

func (s scans) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	stmt, err := s.stmt(ctx, query) //nolint:sqlclosecheck // it is kept for the next query
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, args...)
}

func (s scans) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
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

func (r *preparedReader) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
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

func (r *preparedReader) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for _, stmt := range r.prepared {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(errs...)
}
