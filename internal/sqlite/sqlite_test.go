package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/recado-project/recado/internal/sqlite"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T) (db *sqlite.DB, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "new", "with a space and a ?.db")
	db, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	exec(t, db, "CREATE TABLE numbers (n INTEGER PRIMARY KEY)")
	return db, path
}

func exec(t *testing.T, db *sqlite.DB, query string, args ...any) {
	t.Helper()
	if err := db.Write(t.Context(), statement(query, args...)); err != nil {
		t.Fatal(err)
	}
}

func statement(query string, args ...any) func(context.Context, *sqlite.Tx) error {
	return func(ctx context.Context, tx *sqlite.Tx) error {
		_, err := tx.ExecContext(ctx, query, args...)
		return err
	}
}

func count(t *testing.T, db *sql.DB) int {
	t.Helper()
	var n int
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM numbers").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestOpenKeepsOthersOut(t *testing.T) {
	t.Parallel()
	_, path := open(t)
	for name, want := range cases.Sorted(map[string]os.FileMode{path: 0o600, path + "-wal": 0o600, filepath.Dir(path): 0o700 | os.ModeDir}) {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != want {
			t.Errorf("%s has mode %v, want %v", filepath.Base(name), info.Mode(), want)
		}
	}
}

func TestReaderCannotWrite(t *testing.T) {
	t.Parallel()
	db, _ := open(t)
	if _, err := db.Reader().ExecContext(t.Context(), "INSERT INTO numbers VALUES (1)"); err == nil {
		t.Error("a reader wrote")
	}
}

// New files have small pages, which the connections must ask for before the log is there. A
// file with other pages is used as it is.
func TestPagesOfAFile(t *testing.T) {
	t.Parallel()
	old := filepath.Join(t.TempDir(), "old.db")
	made, err := sql.Open("sqlite", "file:"+old)
	if err != nil {
		t.Fatal(err)
	}
	_, err = made.ExecContext(t.Context(), "PRAGMA page_size = 4096; CREATE TABLE numbers (n INTEGER)")
	if err := errors.Join(err, made.Close()); err != nil {
		t.Fatal(err)
	}
	for path, want := range cases.Sorted(map[string]int{old: 4096, filepath.Join(t.TempDir(), "new.db"): 1024}) {
		db, err := sqlite.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Write(t.Context(), statement("CREATE TABLE IF NOT EXISTS numbers (n INTEGER)")); err != nil {
			t.Error(err)
		}
		for _, c := range []struct {
			pragma string
			want   int
		}{{"page_size", want}, {"wal_autocheckpoint", 8_000}} {
			var got int
			if err := db.Reader().QueryRowContext(t.Context(), "PRAGMA "+c.pragma).Scan(&got); err != nil || got != c.want {
				t.Errorf("%s: %s is %d (%v), want %d", filepath.Base(path), c.pragma, got, err, c.want)
			}
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Many callers share commits, and a write that fails does not make others fail.
func TestWriteIsWholeForEachCaller(t *testing.T) {
	t.Parallel()
	db, _ := open(t)
	refused := errors.New("refused")
	var group sync.WaitGroup
	for n := range 400 {
		group.Go(func() {
			err := db.Write(t.Context(), func(ctx context.Context, tx *sqlite.Tx) error {
				if _, err := tx.ExecContext(ctx, "INSERT INTO numbers VALUES ($1)", n); err != nil {
					return err
				}
				if n%4 == 0 {
					return refused
				}
				return nil
			})
			if failed := errors.Is(err, refused); failed != (n%4 == 0) {
				t.Errorf("write %d answered %v", n, err)
			}
		})
	}
	group.Wait()
	if n := count(t, db.Reader()); n != 300 {
		t.Errorf("%d rows, want the 300 that were accepted", n)
	}
}

func TestWriteIsNotRunAfterItsContext(t *testing.T) {
	t.Parallel()
	db, _ := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := db.Write(ctx, statement("INSERT INTO numbers VALUES (1)")); !errors.Is(err, context.Canceled) {
		t.Errorf("answered %v", err)
	}
	if n := count(t, db.Reader()); n != 0 {
		t.Errorf("%d rows were written", n)
	}
}

// A write after Close fails; it does not wait for ever.
func TestWriteAfterCloseIsRefused(t *testing.T) {
	t.Parallel()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "closed.db"))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.Write(t.Context(), statement("CREATE TABLE numbers (n INTEGER)")); !errors.Is(err, sqlite.ErrClosed) {
		t.Errorf("answered %v", err)
	}
}

func TestPanicReachesItsOwnCaller(t *testing.T) {
	t.Parallel()
	db, _ := open(t)
	func() {
		defer func() {
			if got := recover(); got != "mine" {
				t.Errorf("recovered %v", got)
			}
		}()
		_ = db.Write(t.Context(), func(context.Context, *sqlite.Tx) error { panic("mine") })
	}()
	exec(t, db, "INSERT INTO numbers VALUES (1)")
	if n := count(t, db.Reader()); n != 1 {
		t.Errorf("%d rows after the panic, want 1", n)
	}
}

func TestOpenPoolAgainSeesWhatWasCommitted(t *testing.T) {
	t.Parallel()
	db, path := open(t)
	exec(t, db, "INSERT INTO numbers VALUES (1)")
	pool, err := sqlite.OpenPool(t.Context(), path, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pool.Close() }()
	if n := count(t, pool); n != 1 {
		t.Errorf("%d rows, want 1", n)
	}
}

func BenchmarkWrite(b *testing.B) {
	db, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "bench.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.Write(b.Context(), statement("CREATE TABLE numbers (n INTEGER PRIMARY KEY)")); err != nil {
		b.Fatal(err)
	}
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := db.Write(b.Context(), statement("INSERT INTO numbers VALUES (NULL)")); err != nil {
				b.Error(err)
			}
		}
	})
}

// A compacted file has nothing of rows that were deleted or changed, and writes go on.
func TestCompact(t *testing.T) {
	t.Parallel()
	db, path := open(t)
	exec(t, db, "CREATE TABLE texts (n INTEGER PRIMARY KEY, text TEXT)")
	const words = "an earlier text"
	for n := range 100 {
		exec(t, db, "INSERT INTO texts VALUES ($1, $2)", n, words)
	}
	exec(t, db, "UPDATE texts SET text = 'now' WHERE n < 50")
	exec(t, db, "DELETE FROM texts WHERE n >= 50")
	left := func() bool {
		t.Helper()
		for _, suffix := range []string{"", "-wal"} {
			content, err := os.ReadFile(path + suffix)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(content, []byte(words)) {
				return true
			}
		}
		return false
	}
	if !left() {
		t.Fatal("nothing was left")
	}
	failed := make(chan error)
	for n := range 20 {
		go func() { failed <- db.Write(t.Context(), statement("INSERT INTO numbers VALUES ($1)", n)) }()
	}
	if err := db.Compact(t.Context()); err != nil {
		t.Error(err)
	}
	for range 20 {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	if left() {
		t.Error("an earlier text is still in the file")
	}
	if n := count(t, db.Reader()); n != 20 {
		t.Errorf("there are %d rows of those that were written meanwhile", n)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := db.Compact(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("a compaction that has ended is answered %v", err)
	}
	if err := db.Compact(t.Context()); err != nil {
		t.Error(err)
	}
}
