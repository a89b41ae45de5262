package sqlite

import (
	"context"
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
// returns, and for that function's goroutine only.
type Tx struct{ *Prepared }
