// Transactions that seldom wait for the server.

package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/recado-project/recado/internal/groupcommit"
)

const (
	// maxQueued bounds how many statements wait to be sent, and with it the memory that
	// they take.
	maxQueued = 1_000
)

// Tx is a transaction that waits for the server only where it needs an answer. The BEGIN
// and statements without rows are queued, and sent with the next query, or with the
// COMMIT. The server carries them out in the order of the calls.
//
// So ExecContext does not return the error of its own statement. A query that is sent
// later does, or RowsAffected, or the end of the transaction: whoever is told first. After
// an error nothing more is sent, and every call returns it.
//
// Statements are sent with the context of the transaction, whatever the call's own is:
// they may belong to several writes. What the arguments refer to must not change before
// the transaction ends. A Tx is used by one goroutine at a time.
type Tx struct {
	conn  *pgx.Conn
	ctx   context.Context //nolint:containedctx // the transaction's own, see above
	queue *pgx.Batch
	begun bool  // the server has answered to the BEGIN
	err   error // that has ended the transaction
}

// transact runs fn in a transaction on the connection and commits it.
func transact(ctx context.Context, conn *pgx.Conn, fn func(tx *Tx) error) (err error) {
	t := &Tx{conn: conn, ctx: ctx, queue: new(pgx.Batch)}
	t.queue.Queue("BEGIN").Exec(func(pgconn.CommandTag) error {
		t.begun = true
		return nil
	})
	// It does nothing after a commit, and ends the transaction if fn panics.
	defer func() { //nolint:contextcheck // ctx may have ended
		if failed := t.rollBack(); failed != nil {
			err = errors.Join(err, failed)
		}
		t.err = cmp.Or(t.err, sql.ErrTxDone) // the connection is another one's now
	}()
	if err := fn(t); err != nil {
		return err
	}
	return t.commit()
}

func (t *Tx) commit() error {
	if t.err == nil && !t.begun && t.queue.Len() == 1 {
		return nil // there is only the BEGIN
	}
	answered := false
	t.queue.Queue("COMMIT").Exec(func(pgconn.CommandTag) error {
		answered = true
		return nil
	})
	err := t.send()
	if err != nil && t.undone() {
		return &groupcommit.SpoiledError{Err: err}
	}
	if err == nil {
		return nil
	}
	err = fmt.Errorf("commit: %w", err)
	failure, said := errors.AsType[*pgconn.PgError](err)
	if said && !answered && failure.SeverityUnlocalized == fatal || pgconn.SafeToRetry(err) {
		return err // the server has ended the connection before the COMMIT, or got nothing
	}
	return &UncertainError{err}
}

// UncertainError is the error of a connection that was lost while a commit was under way:
// nobody knows whether it took place.
type UncertainError struct{ Err error }

// Error is why the connection was lost.
func (u *UncertainError) Error() string { return u.Err.Error() + " (it may have taken place)" }

// Unwrap returns why the connection was lost.
func (u *UncertainError) Unwrap() error { return u.Err }

// undone reports whether it is certain that a transaction that has failed was not
// committed: it is still open, or did not even begin.
func (t *Tx) undone() bool {
	return !t.conn.IsClosed() && (!t.begun || t.open())
}

// open reports whether the connection is in a transaction.
func (t *Tx) open() bool { return t.conn.PgConn().TxStatus() != 'I' }

// rollBack ends the transaction if there is one.
func (t *Tx) rollBack() error {
	idle := !t.conn.PgConn().IsBusy() // else rows of a query are open
	if t.conn.IsClosed() || idle && !t.open() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	if _, err := t.conn.Exec(ctx, "ROLLBACK"); err != nil {
		// Nobody must get the connection with what was not rolled back.
		return errors.Join(fmt.Errorf("roll back: %w", err), t.conn.Close(ctx))
	}
	return nil
}

// add queues a statement. The caller sets how its answer is read.
func (t *Tx) add(query string, args []any) (*pgx.QueuedQuery, error) {
	if t.queue.Len() >= maxQueued {
		if err := t.send(); err != nil {
			return nil, err
		}
	}
	return t.queue.Queue(query, args...), t.err
}

// send sends what is queued, and reads the answers.
func (t *Tx) send() error {
	if t.err == nil && t.queue.Len() > 0 {
		t.err = t.conn.SendBatch(t.ctx, t.take()).Close()
	}
	return t.err
}

func (t *Tx) take() *pgx.Batch {
	queue := t.queue
	t.queue = new(pgx.Batch)
	return queue
}

// ExecContext queues a statement. Without arguments it may be a script of several
// statements, and is sent at once.
func (t *Tx) ExecContext(_ context.Context, query string, args ...any) (sql.Result, error) {
	result := &Result{tx: t}
	if len(args) == 0 {
		if err := t.send(); err != nil {
			return nil, err
		}
		tag, err := t.conn.Exec(t.ctx, query) //nolint:contextcheck // see Tx
		result.answered, result.changed, t.err = err == nil, tag.RowsAffected(), err
		return result, err
	}
	queued, err := t.add(query, args)
	if err != nil {
		return nil, err
	}
	queued.Fn = func(results pgx.BatchResults) error {
		tag, err := results.Exec()
		result.answered, result.changed = err == nil, tag.RowsAffected()
		return err
	}
	return result, nil
}

// ExecLater queues a statement whose result nobody asks for.
func (t *Tx) ExecLater(query string, args ...any) error {
	queued, err := t.add(query, args)
	if err != nil {
		return err
	}
	queued.Exec(func(pgconn.CommandTag) error { return nil })
	return nil
}

// QueryLater queues a query. read is called with its rows when the server answers, no
// later than at the commit, and before the transaction is known to be committed.
func (t *Tx) QueryLater(read func(rows pgx.Rows) error, query string, args ...any) error {
	queued, err := t.add(query, args)
	if err != nil {
		return err
	}
	queued.Query(read)
	return nil
}

// QueryContext runs a query after everything that is queued. The rows must be closed
// before the next query.
func (t *Tx) QueryContext(_ context.Context, query string, args ...any) (*Rows, error) {
	if t.err != nil {
		return nil, t.err
	}
	queue := t.take()
	before := queue.QueuedQueries
	queue.Queue(query, args...)
	results := t.conn.SendBatch(t.ctx, queue) //nolint:contextcheck // see Tx
	for _, one := range before {
		if t.err = one.Fn(results); t.err != nil {
			_ = results.Close() // with the same error
			return nil, t.err
		}
	}
	found, err := results.Query()
	if err != nil {
		t.err = err
		_ = results.Close() // with the same error
		return nil, err
	}
	return &Rows{Rows: found, tx: t, results: results}, nil
}

// QueryRowContext runs a query for one row after everything that is queued.
func (t *Tx) QueryRowContext(ctx context.Context, query string, args ...any) *Row {
	rows, err := t.QueryContext(ctx, query, args...)
	return &Row{rows: rows, err: err}
}

// Result is the answer to a statement that was queued. After the commit it is
// there; before, asking for it may send what is queued.
type Result struct {
	tx       *Tx
	answered bool
	changed  int64
}

// RowsAffected returns how many rows the statement has changed, or the error that has
// ended the transaction before it had.
func (r *Result) RowsAffected() (int64, error) {
	if r.answered {
		return r.changed, nil
	}
	err := r.tx.send()
	return r.changed, err
}

// LastInsertId is not known.
func (*Result) LastInsertId() (int64, error) {
	return 0, errors.New("PostgreSQL numbers no rows")
}

// Rows are the rows of a query.
type Rows struct {
	pgx.Rows

	tx      *Tx
	results pgx.BatchResults
}

// Close ends the query. Its error is new: what Err returns is not repeated.
func (r *Rows) Close() error {
	r.Rows.Close()
	err := r.results.Close()
	if r.tx.err == nil {
		r.tx.err = err
	}
	if r.Err() == nil {
		return err
	}
	return nil
}

// Row is the first row of a query.
type Row struct {
	rows *Rows
	err  error
}

// Scan reads the row. Its error is sql.ErrNoRows if there is none.
func (r *Row) Scan(dest ...any) (err error) {
	if r.err != nil {
		return r.err
	}
	defer func() { err = errors.Join(err, r.rows.Close()) }()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return sql.ErrNoRows
	}
	return r.rows.Scan(dest...)
}
