// Package copying reads all tables of one database and writes them into another, of the same kind or not.
// It moves a gateway from SQLite to PostgreSQL; backups are made and restored with it. It copies rows as
// they are, so what is sealed stays sealed. It knows the names of the tables, but not what they mean.
package copying

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/recado-project/recado/internal/store"
)

// tables are those that are copied, each after the tables that it refers to. Those of nodes are not copied,
// because they describe the processes that run at the moment.
//
//nolint:gochecknoglobals // a table
var tables = []string{
	"accounts", "api_keys", "templates", "instances", "chats", "messages", "registrations", "idempotency", "sent_changes", "data_keys", "secrets", "events",
	"uploads", "account_webhooks", "webhooks", "webhook_blocked_chats", "webhook_dead_letters", "webhook_attempts", "users", "sign_ins", "passkeys", "audit",
	"devices", "device_keys", "number_checks", "queued_messages", "new_chats", "poll_votes", "menu_answers", "due_reads", "reactions", "labels", "labelled",
	"presence_subscriptions", "file_place", "clock",
}

// Tables returns the names of the tables that are copied, each after those that it refers to.
func Tables() []string { return slices.Clone(tables) }

// Kind is what the values of a column are.
type Kind string

// The kinds of values. Any of them may be nil.
const (
	Number Kind = "number" // int64
	Text   Kind = "text"   // string
	Bytes  Kind = "bytes"  // []byte
	Bool   Kind = "bool"   // bool
)

// Column is a column of a table.
type Column struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
}

// Row has a value for each column.
type Row []any

// Rows are read one after another; the first error is the last item.
type Rows = iter.Seq2[Row, error]

// Source is a database as it was at one moment, for one goroutine. The two databases differ in each of
// these methods.
type Source interface {
	// Version is that of the newest migration; 0 for a database without tables.
	Version(ctx context.Context) (int, error)
	// Tables returns the names of all its tables.
	Tables(ctx context.Context) ([]string, error)
	// Columns returns the columns of a table; nil if there is no such table.
	Columns(ctx context.Context, table string) ([]Column, error)
	// Rows reads a table, in any order. No other call may be made meanwhile.
	Rows(ctx context.Context, table string, columns []Column) Rows
	// Close closes the database.
	Close(ctx context.Context) error
}

// Target is a database that is filled in one transaction. What was filled in can be read from it.
type Target interface {
	Source
	// Fill adds the rows to a table.
	Fill(ctx context.Context, table string, columns []Column, rows Rows) error
	// Finish brings what the database derives from the rows up to date.
	Finish(ctx context.Context) error
	// Commit commits the transaction. Without it, Close rolls everything back.
	Commit(ctx context.Context) error
}

// OpenSource opens a database for reading. A gateway may work with it meanwhile.
func OpenSource(ctx context.Context, config store.Config) (Source, error) {
	if config.URL != "" {
		return openPostgres(ctx, config.URL, true, config.Logger)
	}
	return openSQLite(ctx, config.Path, true)
}

// OpenTarget opens a database to fill. No gateway may work with it.
func OpenTarget(ctx context.Context, config store.Config) (Target, error) {
	if config.URL != "" {
		return openPostgres(ctx, config.URL, false, config.Logger)
	}
	return openSQLite(ctx, config.Path, false)
}

// ErrNotEmpty is the error for a target that has data of a gateway already.
var ErrNotEmpty = errors.New("the database has data of a gateway already: name an empty one")

// sharedDevice is the row of devices that every new database has.
const sharedDevice = "devices"

// Empty reports whether a database has nothing but what a new one has.
func Empty(ctx context.Context, s Source) (bool, error) {
	for _, name := range tables {
		columns, err := s.Columns(ctx, name)
		if err != nil {
			return false, err
		}
		if columns == nil {
			continue
		}
		count := 0
		for _, err := range s.Rows(ctx, name, columns) {
			if err != nil {
				return false, err
			}
			count++
			if count > 1 || name != sharedDevice {
				return false, nil
			}
		}
	}
	return true, nil
}

// SumTable reads a table and returns what it has.
func SumTable(ctx context.Context, s Source, name string, columns []Column) (Sum, error) {
	var sum Sum
	for row, err := range s.Rows(ctx, name, columns) {
		if err == nil {
			err = sum.Add(row)
		}
		if err != nil {
			return sum, fmt.Errorf("read %s: %w", name, err)
		}
	}
	return sum, nil
}

// FillTable fills a table, reads it again, and returns the sum of its rows. It fails unless the table then
// has exactly these rows.
func FillTable(ctx context.Context, to Target, name string, columns []Column, rows Rows) (Sum, error) {
	var read Sum
	err := to.Fill(ctx, name, columns, func(yield func(Row, error) bool) {
		read = Sum{}
		for row, err := range rows {
			if err == nil {
				err = read.Add(row)
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	})
	if err != nil {
		return read, fmt.Errorf("fill %s: %w", name, err)
	}
	written, err := SumTable(ctx, to, name, columns)
	if err == nil && written != read {
		err = fmt.Errorf("%s is not what it should be: %d rows were read and %d are there, or their contents differ", name, read.Rows, written.Rows)
	}
	return read, err
}
