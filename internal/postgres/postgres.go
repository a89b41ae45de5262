// Package postgres opens PostgreSQL databases the way this program needs them: with a pool
// of connections, transactions that make few round trips, and a second try where another
// transaction was in the way.
//
// It knows no table. Only the store calls it.
package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

const (
	// A transaction that the server ended because of another one is repeated this often.
	// Nearly always it succeeds the second time.
	maxAttempts = 5
	retryPause  = 5 * time.Millisecond // before the second attempt; it doubles

	// Idle connections are closed.
	connIdleTime = 5 * time.Minute

	// ApplicationName is what the server calls our connections.
	ApplicationName = "recado"

	// MigrationLock is the number of the lock that whoever migrates has alone, and whoever copies
	// the whole database shares. Advisory locks have no names: nothing else in the database
	// locks this one. Nobody waits for it in a statement, whose snapshot would be in the way of the
	// making of an index.
	MigrationLock = 7236332701
)

// SQLSTATE codes of transactions that may succeed when they are repeated.
const (
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
)

// fatal is the severity of an error with which the server ends a connection.
const fatal = "FATAL"

// Config says where the database is.
type Config struct {
	URL    string       // postgres://…
	Conns  int          // at most
	Logger *slog.Logger // required
	// Committed is told how long each write took, from the first statement to the commit,
	// with what it had to wait for; nil: nobody is. It must not block.
	Committed func(took time.Duration)
	// Patience is how long the server may be silent (the default is the constant of that name).
	Patience time.Duration
}

// DB is a PostgreSQL database. It is safe for concurrent use.
type DB struct {
	pool      *sql.DB
	conns     int // at most
	logger    *slog.Logger
	committed func(took time.Duration)

	mu         sync.Mutex
	distrusted time.Time // when the connections that nobody used were closed last
}

// Open connects to the database.
func Open(ctx context.Context, config Config) (*DB, error) {
	db := &DB{logger: config.Logger, committed: config.Committed, conns: config.Conns}
	settings, err := parseURL(config.URL, cmp.Or(config.Patience, Patience), db.distrust)
	if err != nil {
		return nil, err
	}
	// A process that stands still, or is cut off, must not hold rows for ever that the others
	// wait for.
	for _, name := range []string{"idle_in_transaction_session_timeout", "tcp_user_timeout"} {
		settings.RuntimeParams[name] = cmp.Or(settings.RuntimeParams[name], number(int(Patience.Milliseconds())))
	}
	db.pool = stdlib.OpenDB(*settings)
	db.pool.SetMaxOpenConns(config.Conns)
	db.pool.SetMaxIdleConns(config.Conns)
	db.pool.SetConnMaxIdleTime(connIdleTime)
	if err := db.pool.PingContext(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// distrust closes the connections that nobody uses: where one that was opened at a time did not
// answer, they are probably as dead, and whoever took one would have to find that out for itself.
// The ones that were opened since somebody found it out are not.
func (d *DB) distrust(opened time.Time) {
	d.mu.Lock()
	known := opened.Before(d.distrusted)
	if !known {
		d.distrusted = now()
	}
	d.mu.Unlock()
	if !known {
		d.pool.SetMaxIdleConns(0)
		d.pool.SetMaxIdleConns(d.conns)
	}
}

// Pool is the pool of connections, for reads.
func (d *DB) Pool() *sql.DB { return d.pool }

// Close closes the connections. Calls under way must have returned.
func (d *DB) Close() error { return d.pool.Close() }

// Transact runs fn in a transaction and commits it. If fn returns an error or panics, the
// transaction is rolled back. A transaction without statements costs nothing.
//
// If it is certain that a statement has failed and nothing was committed, although fn
// returned nil, the error is a *groupcommit.SpoiledError. If the connection is lost at the
// COMMIT, it is an *UncertainError. fn may run again if the server ended the transaction
// because of another one.
func (d *DB) Transact(ctx context.Context, fn func(tx *Tx) error) error {
	return d.retry(ctx, func() (err error) {
		conn, err := d.pool.Conn(ctx)
		if err != nil {
			return fmt.Errorf("begin: %w", err)
		}
		defer func() {
			if closed := conn.Close(); closed != nil && !errors.Is(closed, sql.ErrConnDone) {
				err = errors.Join(err, closed)
			}
		}()
		return conn.Raw(func(used any) error {
			return transact(ctx, used.(*stdlib.Conn).Conn(), fn)
		})
	})
}

// Exec runs one statement as a transaction of its own and returns how many rows it changed. If
// the connection is lost meanwhile, the error is an *UncertainError.
func (d *DB) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	var changed int64
	err := d.retry(ctx, func() error {
		var err error
		if changed, err = d.exec(ctx, query, args); err != nil && mayHaveRun(err) {
			return &UncertainError{err}
		}
		return err
	})
	return changed, err
}

// exec runs one statement on any connection. One without arguments does not go the way that pgx and
// database/sql have for it: they would run it again if the connection is lost while it runs.
func (d *DB) exec(ctx context.Context, query string, args []any) (changed int64, err error) {
	if len(args) > 0 {
		result, err := d.pool.ExecContext(ctx, query, args...)
		if err != nil {
			return 0, err
		}
		return result.RowsAffected()
	}
	conn, err := d.pool.Conn(ctx)
	if err != nil {
		return 0, err
	}
	defer func() {
		if closed := conn.Close(); closed != nil && !errors.Is(closed, sql.ErrConnDone) {
			err = errors.Join(err, closed)
		}
	}()
	err = conn.Raw(func(used any) error {
		result := used.(*stdlib.Conn).Conn().PgConn().ExecParams(ctx, query, nil, nil, nil, nil).Read()
		changed = result.CommandTag.RowsAffected()
		return result.Err
	})
	return changed, err
}

// retry runs attempt until it succeeds, fails for another reason than a conflict with
// other transactions, or has been repeated too often.
func (d *DB) retry(ctx context.Context, attempt func() error) error {
	if d.committed != nil {
		began := time.Now() //nolint:forbidigo // only the time that passes counts
		defer func() { d.committed(time.Since(began)) }()
	}
	pause := retryPause
	for n := 1; ; n++ {
		err := attempt()
		if err == nil || n == maxAttempts || !lostRace(err) {
			return err
		}
		d.logger.LogAttrs(ctx, slog.LevelDebug, "transaction repeated", slog.Int("attempt", n))
		// The pauses are random, so that the same transactions don't meet again.
		timer := time.NewTimer(pause + rand.N(pause)) //nolint:gosec // the pause is no secret
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
		pause *= 2
	}
}

// mayHaveRun reports whether a statement that failed may have been carried out and committed:
// it was sent, and the connection was lost before the server had said what became of it.
func mayHaveRun(err error) bool {
	if failure, said := errors.AsType[*pgconn.PgError](err); said {
		return failure.SeverityUnlocalized == fatal && !isConnectError(err)
	}
	return !isConnectError(err) && !errors.Is(err, driver.ErrBadConn) && !pgconn.SafeToRetry(err)
}

func number(n int) string { return strconv.Itoa(n) }

func seconds(d time.Duration) string { return number(int(d.Seconds())) }

func isConnectError(err error) bool {
	_, ok := errors.AsType[*pgconn.ConnectError](err)
	return ok
}

func lostRace(err error) bool {
	failure, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (failure.Code == serializationFailure || failure.Code == deadlockDetected)
}
