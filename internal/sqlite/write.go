package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/recado-project/recado/internal/groupcommit"
)

// Write runs fn in a write transaction and returns after its commit, which
// includes the fsync. Writes that arrive while a commit is under way share the next one,
// each whole or not at all and in the order of their arrival. groupcommit.Group.Write
// says what fn may do, and which errors there are.
func (db *DB) Write(ctx context.Context, fn func(ctx context.Context, tx *Tx) error) error {
	return db.group.Write(ctx, fn, nil)
}

// Begin is Write that returns before fn has run: groupcommit.Group.Begin says more.
// committed, if not nil, is called once after the commit, in the order of the commits. It
// must not write or block.
func (db *DB) Begin(ctx context.Context, fn func(ctx context.Context, tx *Tx) error, committed func()) groupcommit.Pending {
	return db.group.Begin(ctx, fn, committed)
}

func (db *DB) transact(run func(tx *Tx) error) error {
	if db.committed != nil {
		began := time.Now() //nolint:forbidigo // only the time that passes counts
		defer func() { db.committed(time.Since(began)) }()
	}
	ctx := context.Background()
	db.compact(ctx)
	if _, err := db.tx.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("sqlite: begin: %w", err)
	}
	if err := run(db.tx); err != nil {
		if _, rollback := db.tx.ExecContext(ctx, "ROLLBACK"); rollback != nil {
			return errors.Join(err, fmt.Errorf("sqlite: roll back: %w", rollback))
		}
		return err
	}
	if _, err := db.tx.ExecContext(ctx, "COMMIT"); err != nil {
		// If the disk is full, SQLite has rolled back already.
		_, _ = db.tx.ExecContext(ctx, "ROLLBACK")
		return fmt.Errorf("sqlite: commit: %w", err)
	}
	return nil
}

// Tx is the transaction of one Write. It is valid until the function that got it
// returns, and for that function's goroutine only. Statements are prepared once and
// kept, so queries must be constants.
type Tx struct {
	conn     *sql.Conn
	prepared map[string]*sql.Stmt
}

// ExecContext runs a statement without rows. Its result has the number of rows that it
// changed, and may be asked after the commit.
func (tx *Tx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	stmt, err := tx.stmt(ctx, query) //nolint:sqlclosecheck // kept for the next time; Close closes it
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

// QueryContext runs a query. The rows must be closed before the next statement.
func (tx *Tx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	stmt, err := tx.stmt(ctx, query) //nolint:sqlclosecheck // kept for the next time; Close closes it
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, args...)
}

// QueryRowContext runs a query and reads at most one row. Scan returns its errors,
// including sql.ErrNoRows.
func (tx *Tx) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	stmt, err := tx.stmt(ctx, query) //nolint:sqlclosecheck // kept for the next time; Close closes it
	if err != nil {
		// Only an ordinary row can return the error; it fails in the same way.
		return tx.conn.QueryRowContext(ctx, query, args...)
	}
	return stmt.QueryRowContext(ctx, args...)
}

func (tx *Tx) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	if stmt, ok := tx.prepared[query]; ok {
		return stmt, nil
	}
	stmt, err := tx.conn.PrepareContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("sqlite: prepare: %w", err)
	}
	tx.prepared[query] = stmt
	return stmt, nil
}

func (tx *Tx) close() error {
	var errs []error
	for _, stmt := range tx.prepared {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(errs...)
}
