// A PostgreSQL database as a source and as a target.

package copying

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/recado-project/recado/internal/postgres"
)

// database is one transaction on a database.
type database struct {
	conn *pgx.Conn
	tx   pgx.Tx
}

// openPostgres begins a transaction: one that sees the database as it is now, or one that
// writes.
func openPostgres(ctx context.Context, url string, readOnly bool, logger *slog.Logger) (*database, error) {
	name := postgres.ApplicationName
	if readOnly {
		name += " backup"
	}
	conn, err := postgres.Connect(ctx, url, name)
	if err != nil {
		return nil, fmt.Errorf("connect to the database: %w", err)
	}
	if readOnly {
		if err := blockMigrations(ctx, conn, logger); err != nil {
			return nil, errors.Join(err, conn.Close(ctx))
		}
	}
	options := pgx.TxOptions{}
	if readOnly {
		options = pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	}
	tx, err := conn.BeginTx(ctx, options)
	if err == nil {
		_, err = tx.Exec(ctx, "SELECT count(*) FROM pg_class") // the snapshot is taken at the first read
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close(ctx))
	}
	return &database{conn: conn, tx: tx}, nil
}

// blockMigrations waits until no migration runs, and keeps others from starting while the connection lasts.
func blockMigrations(ctx context.Context, conn *pgx.Conn, logger *slog.Logger) error {
	pause := time.NewTicker(lockPause)
	defer pause.Stop()
	for logged := false; ; logged = true {
		var taken bool
		if err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock_shared($1)", int64(postgres.MigrationLock)).Scan(&taken); err != nil || taken {
			return err
		}
		if !logged && logger != nil {
			logger.WarnContext(ctx, "the database is being migrated: it is copied after that")
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// lockPause is how long it waits before it tries to get the lock again.
const lockPause = 200 * time.Millisecond

// Version is that of the newest migration (Source).
func (d *database) Version(ctx context.Context) (version int, err error) {
	if columns, err := d.Columns(ctx, "schema_migrations"); err != nil || columns == nil {
		return 0, err
	}
	err = d.tx.QueryRow(ctx, "SELECT COALESCE(MAX(version), 0) FROM schema_migrations").Scan(&version)
	return version, err
}

// Tables returns the names of all tables (Source).
func (d *database) Tables(ctx context.Context) ([]string, error) {
	rows, err := d.tx.Query(ctx, "SELECT table_name::text FROM information_schema.tables WHERE table_schema = current_schema()")
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// Columns returns the columns of a table (Source).
func (d *database) Columns(ctx context.Context, table string) ([]Column, error) {
	rows, err := d.tx.Query(ctx, `SELECT column_name::text, data_type::text FROM information_schema.columns
		WHERE table_schema = current_schema() AND table_name = $1 ORDER BY ordinal_position`, table)
	if err != nil {
		return nil, err
	}
	kinds := map[string]Kind{"bigint": Number, "text": Text, "bytea": Bytes, "boolean": Bool}
	var columns []Column
	var name, kind string
	_, err = pgx.ForEachRow(rows, []any{&name, &kind}, func() error {
		if kinds[kind] == "" {
			return fmt.Errorf("the column %s.%s is of the unknown type %s", table, name, kind)
		}
		columns = append(columns, Column{Name: name, Kind: kinds[kind]})
		return nil
	})
	return columns, err
}

// Rows reads a table (Source).
func (d *database) Rows(ctx context.Context, table string, columns []Column) Rows {
	return func(yield func(Row, error) bool) {
		rows, err := d.tx.Query(ctx, "SELECT "+strings.Join(names(columns), ", ")+" FROM "+table)
		if err != nil {
			yield(nil, err)
			return
		}
		defer rows.Close()
		for rows.Next() {
			if values, err := rows.Values(); !yield(values, err) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, err)
		}
	}
}

// Fill adds the rows to a table (Target).
func (d *database) Fill(ctx context.Context, table string, columns []Column, rows Rows) error {
	if table == sharedDevice {
		if _, err := d.tx.Exec(ctx, "DELETE FROM devices"); err != nil {
			return err
		}
	}
	next, stop := iter.Pull2(rows)
	defer stop()
	_, err := d.tx.CopyFrom(ctx, pgx.Identifier{table}, names(columns), pgx.CopyFromFunc(func() ([]any, error) {
		row, err, _ := next() // at the end there is no row
		return row, err
	}))
	return err
}

// Finish sets the sequence of devices behind the last one, and lets any node take the instances over
// (Target).
func (d *database) Finish(ctx context.Context) error {
	if columns, err := d.Columns(ctx, "devices"); err != nil || columns == nil {
		return err
	}
	if _, err := d.tx.Exec(ctx, "SELECT setval(pg_get_serial_sequence('devices', 'number'), GREATEST((SELECT MAX(number) FROM devices), 1))"); err != nil {
		return err
	}
	if columns, err := d.Columns(ctx, "tenures"); err != nil || columns == nil {
		return err
	}
	_, err := d.tx.Exec(ctx, "INSERT INTO tenures (instance_id, node, epoch) SELECT id, NULL, 0 FROM instances ON CONFLICT DO NOTHING")
	return err
}

// Commit commits the transaction (Target).
func (d *database) Commit(ctx context.Context) error { return d.tx.Commit(ctx) }

// Close closes the connection (Source).
func (d *database) Close(ctx context.Context) error {
	return d.conn.Close(context.WithoutCancel(ctx)) // which rolls back
}
