package sqlerror_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/recado-project/recado/internal/sqlerror"
	"github.com/recado-project/recado/internal/sqlite"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestIsDataOfPostgreSQL(t *testing.T) {
	t.Parallel()
	for code, want := range cases.Sorted(map[string]bool{
		"22021": true,  // a byte that is no UTF-8, or U+0000
		"22P05": true,  // a character that can't be converted
		"22003": true,  // a number out of range
		"54000": true,  // an index row that is too long
		"54023": false, // too many arguments: the statement's fault
		"23505": false, // a unique violation
		"40001": false, // a lost race
		"53100": false, // a full disk
		"57P01": false, // a shutdown
	}) {
		err := fmt.Errorf("store: %w", &pgconn.PgError{Code: code})
		if got := sqlerror.IsData(err); got != want {
			t.Errorf("IsData(%s) = %v, want %v", code, got, want)
		}
	}
	if sqlerror.IsData(errors.New("connection refused")) || sqlerror.IsData(nil) {
		t.Error("an error of another kind, or none, counts as one about data")
	}
}

func TestIsDataOfSQLite(t *testing.T) {
	t.Parallel()
	pool, err := sqlite.OpenPool(t.Context(), filepath.Join(t.TempDir(), "test.db"), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	if _, err := pool.ExecContext(t.Context(), "CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT)"); err != nil {
		t.Fatal(err)
	}
	_, err = pool.ExecContext(t.Context(), "INSERT INTO words (word) VALUES (zeroblob(2000000000))")
	if !sqlerror.IsData(err) {
		t.Errorf("a value that is too big: IsData(%v) = false", err)
	}
	_, err = pool.ExecContext(t.Context(), "INSERT INTO words (id) VALUES ($1)", strings.Repeat("x", 3))
	if !sqlerror.IsData(err) {
		t.Errorf("a text for a number: IsData(%v) = false", err)
	}
	_, err = pool.ExecContext(t.Context(), "INSERT INTO nowhere (id) VALUES (1)")
	if err == nil || sqlerror.IsData(err) {
		t.Errorf("a table that is not there: IsData(%v) = true", err)
	}
}

// What does not work on a full disk may work later.
func TestIsAwayOfSQLite(t *testing.T) {
	t.Parallel()
	pool, err := sqlite.OpenPool(t.Context(), filepath.Join(t.TempDir(), "test.db"), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	for _, statement := range []string{"CREATE TABLE words (word TEXT)", "PRAGMA max_page_count = 3"} {
		if _, err := pool.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	_, err = pool.ExecContext(t.Context(), "INSERT INTO words (word) VALUES ($1)", strings.Repeat("x", 100_000))
	if err == nil || !sqlerror.IsAway(fmt.Errorf("store: %w", err)) {
		t.Errorf("a full disk: IsAway(%v) = false", err)
	}
	if _, err = pool.ExecContext(t.Context(), "INSERT INTO nowhere (id) VALUES (1)"); err == nil || sqlerror.IsAway(err) {
		t.Errorf("a table that is not there: IsAway(%v) = true", err)
	}
}

func TestBrokenRules(t *testing.T) {
	t.Parallel()
	pool, err := sqlite.OpenPool(t.Context(), filepath.Join(t.TempDir(), "test.db"), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	if _, err := pool.ExecContext(t.Context(), "CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT UNIQUE, of INTEGER REFERENCES words (id))"); err != nil {
		t.Fatal(err)
	}
	run := func(statement string) error {
		_, err := pool.ExecContext(t.Context(), statement)
		return err
	}
	if err := run("INSERT INTO words (id, word) VALUES (1, 'one')"); err != nil {
		t.Fatal(err)
	}
	for name, test := range cases.Sorted(map[string]struct {
		err           error
		taken, orphan bool
	}{
		"SQLite, a key twice":         {run("INSERT INTO words (id) VALUES (1)"), true, false},
		"SQLite, a word twice":        {run("INSERT INTO words (word) VALUES ('one')"), true, false},
		"SQLite, no such row":         {run("INSERT INTO words (of) VALUES (9)"), false, true},
		"PostgreSQL, a key twice":     {&pgconn.PgError{Code: "23505"}, true, false},
		"PostgreSQL, no such row":     {&pgconn.PgError{Code: "23503"}, false, true},
		"PostgreSQL, a missing value": {&pgconn.PgError{Code: "23502"}, false, false},
		"something else":              {errors.New("disk full"), false, false},
		"none":                        {nil, false, false},
	}) {
		wrapped := test.err
		if wrapped != nil {
			wrapped = fmt.Errorf("store: %w", wrapped)
		}
		if taken, orphan := sqlerror.IsTaken(wrapped), sqlerror.IsOrphan(wrapped); taken != test.taken || orphan != test.orphan {
			t.Errorf("%s: taken %v, orphan %v of %v", name, taken, orphan, test.err)
		}
	}
}

func TestIsAway(t *testing.T) {
	t.Parallel()
	for name, test := range cases.Sorted(map[string]struct {
		err  error
		want bool
	}{
		"shutdown":             {&pgconn.PgError{Code: "57P01"}, true},
		"too many connections": {&pgconn.PgError{Code: "53300"}, true},
		"disk full":            {&pgconn.PgError{Code: "53100"}, true},
		"a lost connection":    {&pgconn.PgError{Code: "08006"}, true},
		"a standby":            {&pgconn.PgError{Code: "25006"}, true},
		"no connection":        {&pgconn.ConnectError{}, true},
		"the end of one":       {io.ErrUnexpectedEOF, true},
		"a bad one":            {driver.ErrBadConn, true},
		"no answer":            {&net.OpError{Op: "read", Err: errors.New("reset")}, true},
		"no answer in time":    {context.DeadlineExceeded, true},
		"a client that left":   {context.Canceled, false},
		"a key twice":          {&pgconn.PgError{Code: "23505"}, false},
		"a lost race":          {&pgconn.PgError{Code: "40001"}, false},
		"a cancelled query":    {&pgconn.PgError{Code: "57014"}, false},
		"something else":       {errors.New("connection refused"), false},
	}) {
		if got := sqlerror.IsAway(fmt.Errorf("store: %w", test.err)); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
