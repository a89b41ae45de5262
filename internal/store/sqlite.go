package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/groupcommit"
	"github.com/recado-project/recado/internal/sqlite"
	"github.com/recado-project/recado/internal/store/table"
)

// sqliteDatabase is a SQLite file. Writes share commits; reads don't wait for them.
type sqliteDatabase struct {
	db           *sqlite.DB
	reads, scans *sqlite.Prepared
	// short and long run what reads and scans do. They are made once for all queries.
	short, long table.Querier
	writes      writeHealth
}

// MovedSuffix is behind the name of a file whose data were moved to PostgreSQL.
const MovedSuffix = ".moved"

func openSQLite(ctx context.Context, config sqlite.Config) (*sqliteDatabase, error) {
	if _, err := os.Stat(config.Path); errors.Is(err, fs.ErrNotExist) {
		// A new file would be a gateway without instances.
		if _, err := os.Stat(config.Path + MovedSuffix); err == nil {
			return nil, fmt.Errorf("the data in %s were moved to PostgreSQL: name the database with --database-url; "+
				"or remove %s to begin anew", filepath.Dir(config.Path), filepath.Base(config.Path)+MovedSuffix)
		}
	}
	db, err := sqlite.OpenWith(ctx, config)
	if err != nil {
		return nil, err
	}
	reads, scans := sqlite.NewPrepared(db.Reader()), sqlite.NewScans(db.Reader())
	return &sqliteDatabase{db: db, reads: reads, scans: scans, short: table.QuerierOf(reads), long: table.QuerierOf(scans)}, nil
}

func (d *sqliteDatabase) Write(ctx context.Context, fn func(ctx context.Context, q table.Querier) error) error {
	return d.writes.translate(d.db.Write(ctx, func(ctx context.Context, tx *sqlite.Tx) error { return fn(ctx, table.QuerierOf(tx)) }))
}

func (d *sqliteDatabase) writeUnder(
	ctx context.Context, _ []gateway.Tenure, fn func(ctx context.Context, q table.Querier) error,
) error {
	return d.Write(ctx, fn)
}

func (d *sqliteDatabase) Begin(
	ctx context.Context, _ string, fn func(ctx context.Context, q table.Querier) error, committed func(),
) groupcommit.Pending {
	return translatedPending{
		writes:  &d.writes,
		Pending: d.db.Begin(ctx, func(ctx context.Context, tx *sqlite.Tx) error { return fn(ctx, table.QuerierOf(tx)) }, committed),
	}
}

func (d *sqliteDatabase) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	var changed int64
	err := d.db.Write(ctx, func(ctx context.Context, tx *sqlite.Tx) error {
		result, err := tx.ExecContext(ctx, query, args...)
		if err != nil {
			return err
		}
		changed, err = result.RowsAffected()
		return err
	})
	return changed, d.writes.translate(err)
}

func (d *sqliteDatabase) Reader() table.Querier { return d.short }

func (d *sqliteDatabase) Scanner() table.Querier { return d.long }

func (d *sqliteDatabase) ping(ctx context.Context) error {
	var one int
	return d.reads.QueryRowContext(ctx, "SELECT 1").Scan(&one)
}

func (d *sqliteDatabase) failing() time.Duration { return d.writes.failing() }

func (d *sqliteDatabase) connections() sql.DBStats          { return d.db.Reader().Stats() }
func (d *sqliteDatabase) Compact(ctx context.Context) error { return d.db.Compact(ctx) }

func (d *sqliteDatabase) close() error {
	return errors.Join(d.reads.Close(), d.scans.Close(), d.db.Close())
}
