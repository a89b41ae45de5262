package sqlite_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/recado-project/recado/internal/sqlite"
)

func openLazy(t *testing.T) *sqlite.Lazy {
	t.Helper()
	file, err := sqlite.OpenLazy(t.Context(), filepath.Join(t.TempDir(), "keys.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := file.ExecContext(t.Context(), "CREATE TABLE numbers (n INTEGER); INSERT INTO numbers VALUES (1), (2), (3)"); err != nil {
		t.Fatal(err)
	}
	return file
}

// A statement is kept, and must not answer for another caller while its rows are
// read: one query runs inside of the same one.
func TestKeptStatementInsideOfItself(t *testing.T) {
	t.Parallel()
	file := openLazy(t)
	tx, err := file.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	const query = "SELECT n FROM numbers WHERE n >= $1 ORDER BY n"
	outer, err := tx.QueryContext(t.Context(), query, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = outer.Close() }()
	var got []string
	for outer.Next() {
		var n, inner int
		if err := outer.Scan(&n); err != nil {
			t.Fatal(err)
		}
		if err := tx.QueryRowContext(t.Context(), query, n).Scan(&inner); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(n, inner))
	}
	if err := outer.Err(); err != nil {
		t.Fatal(err)
	}
	if want := "[1 1 2 2 3 3]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// More different statements than are kept, and wrong ones among them, are
// answered as without keeping any; so are those from before a change of the table.
func TestManyStatements(t *testing.T) {
	t.Parallel()
	file := openLazy(t)
	for i := range 300 {
		var n int
		if err := file.QueryRowContext(t.Context(), fmt.Sprintf("SELECT n + %d FROM numbers WHERE n = $1", i), 2).Scan(&n); err != nil || n != i+2 {
			t.Fatalf("statement %d answered %d (%v)", i, n, err)
		}
		if _, err := file.ExecContext(t.Context(), fmt.Sprintf("SELECT nothing%d FROM nowhere", i)); err == nil {
			t.Fatal("a wrong statement was carried out")
		}
	}
	if _, err := file.ExecContext(t.Context(), "ALTER TABLE numbers ADD COLUMN more TEXT NOT NULL DEFAULT 'x'"); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := file.QueryRowContext(t.Context(), "SELECT n + 0 FROM numbers WHERE n = $1", 3).Scan(&n); err != nil || n != 3 {
		t.Errorf("after the change it answered %d (%v)", n, err)
	}
}

func TestSync(t *testing.T) {
	t.Parallel()
	file := openLazy(t)
	for range 2 { // the second time there is nothing new
		if err := file.Sync(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if _, err := file.ExecContext(t.Context(), "PRAGMA journal_mode = DELETE"); err != nil {
		t.Fatal(err)
	}
	if err := file.Sync(t.Context()); err != nil {
		t.Errorf("without a log: %v", err)
	}
}
