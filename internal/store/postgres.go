// PostgreSQL.

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/recado-project/recado/internal/groupcommit"
)

const (
	// A transaction that the server ended because of another one is repeated this often.
	// Nearly always it succeeds the second time.
	maxAttempts = 5
	retryPause  = 5 * time.Millisecond // before the second attempt; it doubles

	// Idle connections are closed.
	connIdleTime = 5 * time.Minute

	// commitLanes is how many transactions of writes in order run side by side; while
	// one waits for the disk, another can be filled.
	commitLanes = 4
	// commitLaneTimeout bounds a transaction of a commit lane, so that the writes in it
	// don't wait for ever when the server does not answer.
	commitLaneTimeout = 30 * time.Second

	applicationName = "recado"
)

// SQLSTATE codes of transactions that may succeed when they are repeated.
const (
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
)

// postgresDatabase is a PostgreSQL database. A write has a transaction of its own; writes
// in order share transactions.
type postgresDatabase struct {
	pool   *sql.DB
	logger *slog.Logger
	// commitLanes carry out the writes in order. Those of one instance always go to the
	// same lane.
	commitLanes [commitLanes]*groupcommit.Group[*commitLaneTx]
}

func openPostgres(ctx context.Context, config Config) (*postgresDatabase, error) {
	settings, err := pgx.ParseConfig(config.URL)
	if err != nil {
		return nil, err // pgx leaves the password out of its errors
	}
	if settings.RuntimeParams["application_name"] == "" {
		settings.RuntimeParams["application_name"] = applicationName
	}
	pool := stdlib.OpenDB(*settings)
	conns := config.Conns
	if conns == 0 {
		conns = defaultConns
	}
	pool.SetMaxOpenConns(conns)
	pool.SetMaxIdleConns(conns)
	pool.SetConnMaxIdleTime(connIdleTime)
	if err := pool.PingContext(ctx); err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	d := &postgresDatabase{pool: pool, logger: config.Logger}
	for i := range d.commitLanes {
		d.commitLanes[i] = groupcommit.New(d.transact, (*commitLaneTx).flushAll)
	}
	return d, nil
}

// transact runs the transaction of a commit lane.
func (d *postgresDatabase) transact(run func(tx *commitLaneTx) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), commitLaneTimeout)
	defer cancel()
	return d.retry(ctx, func() error {
		return d.transaction(ctx, func(_ context.Context, q querier) error { return run(&commitLaneTx{querier: q, ctx: ctx}) })
	})
}

func (d *postgresDatabase) begin(
	ctx context.Context, instanceID string, fn func(ctx context.Context, q querier) error, committed func(),
) groupcommit.Pending {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(instanceID)) // it never fails
	return d.commitLanes[sum.Sum32()%commitLanes].Begin(ctx, func(ctx context.Context, tx *commitLaneTx) error { return fn(ctx, tx) }, committed)
}

func (d *postgresDatabase) write(ctx context.Context, fn func(ctx context.Context, q querier) error) error {
	return d.retry(ctx, func() error { return d.transaction(ctx, fn) })
}

func (d *postgresDatabase) exec(ctx context.Context, query string, args ...any) (int64, error) {
	var changed int64
	err := d.retry(ctx, func() error {
		result, err := d.pool.ExecContext(ctx, query, args...)
		if err != nil {
			return err
		}
		changed, err = result.RowsAffected()
		return err
	})
	return changed, err
}

func (d *postgresDatabase) reader() querier { return d.pool }

func (d *postgresDatabase) scanner() querier { return d.pool }

func (d *postgresDatabase) ping(ctx context.Context) error { return d.pool.PingContext(ctx) }

func (d *postgresDatabase) close() error {
	for _, lane := range d.commitLanes {
		lane.Close()
	}
	return d.pool.Close()
}

func (d *postgresDatabase) transaction(ctx context.Context, fn func(ctx context.Context, q querier) error) (err error) {
	tx, err := d.pool.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	// It does nothing after a commit, and ends the transaction if fn panics.
	defer func() {
		if rollback := tx.Rollback(); rollback != nil && !errors.Is(rollback, sql.ErrTxDone) {
			err = errors.Join(err, fmt.Errorf("roll back: %w", rollback))
		}
	}()
	if err := fn(ctx, tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// retry runs attempt until it succeeds, fails for another reason than a conflict with
// other transactions, or has been repeated too often.
func (d *postgresDatabase) retry(ctx context.Context, attempt func() error) error {
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

func lostRace(err error) bool {
	failure, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (failure.Code == serializationFailure || failure.Code == deadlockDetected)
}
