// Removing what deleted and changed rows have left in the file.

package sqlite

import (
	"context"
	"errors"
	"fmt"
)

type compacting struct{ err error }

// Compact writes the file anew, so that it has nothing but the rows of now: what was deleted
// or changed can't be found in it any more, nor in its log. Writes wait meanwhile, a second
// or more for each 100 MB, reads go on. It needs as much room on the disk as the file has.
// If a long read keeps it from emptying the log, it fails, and may be called again.
func (db *DB) Compact(ctx context.Context) error {
	job := &compacting{}
	if !db.compacting.CompareAndSwap(nil, job) {
		return errors.New("sqlite: the file is being compacted already")
	}
	// It can't run in a transaction, so it runs just before one.
	err := db.Write(ctx, func(context.Context, *Tx) error { return nil })
	db.compacting.CompareAndSwap(job, nil) // if the write did not begin
	if err := errors.Join(err, job.err); err != nil {
		return fmt.Errorf("sqlite: compact: %w", err)
	}
	return nil
}

// compact carries out a call of Compact that waits. Only the writer calls it, between
// transactions.
func (db *DB) compact(ctx context.Context) {
	job := db.compacting.Swap(nil)
	if job == nil {
		return
	}
	if _, err := db.conn.ExecContext(ctx, "VACUUM"); err != nil {
		job.err = err
		return
	}
	var busy, inLog, moved int
	if err := db.conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &inLog, &moved); err != nil {
		job.err = err
	} else if busy != 0 {
		job.err = errors.New("a read keeps the log from being emptied")
	}
}
