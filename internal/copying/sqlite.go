// A SQLite file as a source and as a target.

package copying

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/recado-project/recado/internal/sqlite"
	"github.com/recado-project/recado/internal/store/table"
)

// sqliteFile is one transaction on a file.
type sqliteFile struct {
	pool *sql.DB
	tx   *sql.Tx
}

// openSQLite begins a transaction: one that sees the file as it is now, whatever a gateway
// writes meanwhile, or one that writes.
func openSQLite(ctx context.Context, path string, readOnly bool) (*sqliteFile, error) {
	pool, err := sqlite.OpenPool(ctx, path, 1)
	if err != nil {
		return nil, err
	}
	tx, err := pool.BeginTx(ctx, &sql.TxOptions{ReadOnly: readOnly})
	if err == nil {
		// The snapshot is taken at the first read.
		var one int
		err = tx.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&one)
	}
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return &sqliteFile{pool: pool, tx: tx}, nil
}

// Version is that of the newest migration (Source).
func (f *sqliteFile) Version(ctx context.Context) (version int, err error) {
	if columns, err := f.Columns(ctx, "schema_migrations"); err != nil || columns == nil {
		return 0, err
	}
	err = f.tx.QueryRowContext(ctx, "SELECT COALESCE(MAX(version), 0) FROM schema_migrations").Scan(&version)
	return version, err
}

// Tables returns the names of all tables (Source).
func (f *sqliteFile) Tables(ctx context.Context) ([]string, error) {
	return table.Collect(ctx, table.QuerierOf(f.tx), table.Value[string],
		"SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
}

// Columns returns the columns of a table (Source).
func (f *sqliteFile) Columns(ctx context.Context, of string) ([]Column, error) {
	kinds := map[string]Kind{"BIGINT": Number, "INTEGER": Number, "TEXT": Text, "BYTEA": Bytes, "BOOLEAN": Bool}
	return table.Collect(ctx, table.QuerierOf(f.tx), func(row table.Scanner) (column Column, err error) {
		var kind string
		err = row.Scan(&column.Name, &kind)
		if column.Kind = kinds[kind]; err == nil && column.Kind == "" {
			err = fmt.Errorf("the column %s.%s is of the unknown type %s", of, column.Name, kind)
		}
		return column, err
	}, "SELECT name, type FROM pragma_table_info($1) ORDER BY cid", of)
}

// Rows reads a table (Source).
func (f *sqliteFile) Rows(ctx context.Context, of string, columns []Column) Rows {
	return func(yield func(Row, error) bool) {
		rows, err := f.tx.QueryContext(ctx, "SELECT "+strings.Join(names(columns), ", ")+" FROM "+of) //nolint:gosec // names of our own tables
		if err != nil {
			yield(nil, err)
			return
		}
		defer func() { _ = rows.Close() }() // it was read to its end, or nobody needs the rest
		row, into := make(Row, len(columns)), make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		for rows.Next() {
			err := rows.Scan(into...)
			for i, column := range columns {
				if err == nil {
					row[i], err = ofKind(row[i], column)
				}
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, err)
		}
	}
}

// ofKind converts a value to the kind of its column: SQLite has no bool, and stores values of any type in
// any column.
func ofKind(value any, column Column) (any, error) {
	switch value := value.(type) {
	case nil:
		return nil, nil //nolint:nilnil // it is the value
	case int64:
		if column.Kind == Bool {
			return value != 0, nil
		}
		if column.Kind == Number {
			return value, nil
		}
	case bool:
		if column.Kind == Bool {
			return value, nil
		}
	case string:
		if column.Kind == Text {
			return value, nil
		}
		if column.Kind == Bytes {
			return []byte(value), nil
		}
	case []byte:
		if column.Kind == Bytes {
			return value, nil
		}
		if column.Kind == Text {
			return string(value), nil
		}
	}
	return nil, fmt.Errorf("a value of the column %s is a %T", column.Name, value)
}

// Fill adds the rows to a table (Target).
func (f *sqliteFile) Fill(ctx context.Context, into string, columns []Column, rows Rows) (err error) {
	if into == sharedDevice {
		if _, err := f.tx.ExecContext(ctx, "DELETE FROM devices"); err != nil {
			return err
		}
	}
	insert, err := f.tx.PrepareContext(ctx, "INSERT INTO "+into+" ("+strings.Join(names(columns), ", ")+") VALUES (?"+strings.Repeat(", ?", len(columns)-1)+")") //nolint:gosec // as above
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, insert.Close()) }()
	for row, err := range rows {
		if err != nil {
			return err
		}
		if _, err := insert.ExecContext(ctx, row...); err != nil {
			return err
		}
	}
	return nil
}

// Finish has nothing to do (Target).
func (*sqliteFile) Finish(context.Context) error { return nil }

// Commit commits the transaction (Target).
func (f *sqliteFile) Commit(context.Context) error { return f.tx.Commit() }

// Close closes the file (Source).
func (f *sqliteFile) Close(context.Context) error {
	err := f.tx.Rollback()
	if errors.Is(err, sql.ErrTxDone) {
		err = nil
	}
	return errors.Join(err, f.pool.Close())
}

func names(columns []Column) []string {
	all := make([]string, len(columns))
	for i, column := range columns {
		all[i] = column.Name
	}
	return all
}
