// PostgreSQL.

package store

import (
	"context"
	"database/sql"
	"hash/fnv"
	"runtime"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/groupcommit"
	"github.com/recado-project/recado/internal/postgres"
	"github.com/recado-project/recado/internal/store/failure"
	"github.com/recado-project/recado/internal/store/table"
)

// maxCommitLanes bounds how many transactions of writes in order run side by side.
const maxCommitLanes = 4

// postgresDatabase is a PostgreSQL database. A write has a transaction of its own; writes
// in order share transactions.
type postgresDatabase struct {
	db     *postgres.DB
	fenced bool
	writes failure.Writes
	// commitLanes carry out the writes in order. Those of one instance always go to the
	// same lane.
	commitLanes []*groupcommit.Group[*commitLaneTx]
}

func openPostgres(ctx context.Context, config Config) (*postgresDatabase, error) {
	conns := config.Conns
	if conns == 0 {
		conns = defaultConns
	}
	db, err := postgres.Open(ctx, postgres.Config{URL: config.URL, Conns: conns, Logger: config.Logger, Committed: config.Committed})
	if err != nil {
		return nil, err
	}
	d := &postgresDatabase{
		db: db, fenced: config.Fenced,
		commitLanes: make([]*groupcommit.Group[*commitLaneTx], commitLanes(runtime.GOMAXPROCS(0), config.Fenced)),
	}
	for i := range d.commitLanes {
		d.commitLanes[i] = groupcommit.New(d.transact, (*commitLaneTx).flush)
	}
	return d, nil
}

// commitLanes is how many transactions of writes in order run side by side. While one waits
// for the disk, another can be filled; but the more there are, the fewer writes share one,
// and a transaction costs the server more than a write. Two keep two cores busy. Of several
// nodes each has half as many: together they are on the server what one process is.
func commitLanes(cores int, fenced bool) int {
	if fenced {
		cores /= 2
	}
	return max(1, min(cores, maxCommitLanes))
}

// transact runs the transaction of a commit lane. The writes in it don't wait for ever when the
// server does not answer.
func (d *postgresDatabase) transact(run func(tx *commitLaneTx) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), postgres.Patience)
	defer cancel()
	return d.db.Transact(ctx, func(tx *postgres.Tx) error {
		return run(&commitLaneTx{Querier: table.QuerierOf(tx), tx: tx})
	})
}

func (d *postgresDatabase) begin(
	ctx context.Context, instanceID string, fn func(ctx context.Context, q table.Querier) error, committed func(),
) groupcommit.Pending {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(instanceID)) // it never fails
	pending := d.commitLanes[int(sum.Sum32()>>1)%len(d.commitLanes)].Begin(ctx, func(ctx context.Context, tx *commitLaneTx) error {
		if d.fenced && instanceID != nobody {
			if err := tx.under(gateway.TenureOf(ctx), instanceID); err != nil {
				return err
			}
		}
		return fn(ctx, tx)
	}, committed)
	return failure.Pending{Pending: pending, Writes: &d.writes}
}

func (d *postgresDatabase) writeUnder(
	ctx context.Context, tenures []gateway.Tenure, fn func(ctx context.Context, q table.Querier) error,
) error {
	return d.writes.Translate(d.db.Transact(ctx, func(tx *postgres.Tx) error {
		if d.fenced {
			if err := holdTenures(tx, tenures); err != nil {
				return err
			}
		}
		return fn(ctx, table.QuerierOf(tx))
	}))
}

func (d *postgresDatabase) write(ctx context.Context, fn func(ctx context.Context, q table.Querier) error) error {
	return d.writes.Translate(d.db.Transact(ctx, func(tx *postgres.Tx) error { return fn(ctx, table.QuerierOf(tx)) }))
}

func (d *postgresDatabase) exec(ctx context.Context, query string, args ...any) (int64, error) {
	changed, err := d.db.Exec(ctx, query, args...)
	return changed, d.writes.Translate(err)
}

func (d *postgresDatabase) reader() table.Querier {
	return failure.Reader{Querier: table.QuerierOf(d.db.Pool())}
}

func (d *postgresDatabase) scanner() table.Querier { return d.reader() }

func (d *postgresDatabase) ping(ctx context.Context) error {
	if err := d.db.Pool().PingContext(ctx); err != nil {
		return d.writes.Translate(err)
	}
	return nil
}

func (d *postgresDatabase) failing() time.Duration { return d.writes.Failing() }

func (d *postgresDatabase) connections() sql.DBStats        { return d.db.Pool().Stats() }
func (d *postgresDatabase) compact(_ context.Context) error { return nil }

func (d *postgresDatabase) close() error {
	for _, lane := range d.commitLanes {
		lane.Close()
	}
	return d.db.Close()
}
