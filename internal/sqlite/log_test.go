package sqlite_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/recado-project/recado/internal/sqlite"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// fill writes rows of a thousand random bytes.
const fill = "INSERT INTO pages (content) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1) SELECT randomblob(1000) FROM n"

// What a write has returned for is in the files, whatever its size and whatever came before, and a file that
// is copied from under the writer, as a crash would leave it, is whole.
func TestCommitsAreInTheFiles(t *testing.T) {
	t.Parallel()
	for name, size := range cases.Sorted(map[string]struct{ rows, memory int }{
		"few pages": {1, 2_000}, "as many as are written at once": {20, 2_000}, "more than that": {300, 2_000},
		"more than the writer keeps in memory": {300, 10},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := open(t)
			exec(t, db, "CREATE TABLE pages (n INTEGER PRIMARY KEY, content BLOB)")
			exec(t, db, "PRAGMA cache_size = "+strconv.Itoa(size.memory))
			given := errors.New("given up")
			for n := 1; n <= 2; n++ {
				err := db.Write(t.Context(), func(ctx context.Context, tx *sqlite.Tx) error {
					if _, err := tx.ExecContext(ctx, fill, size.rows); err != nil {
						return err
					}
					var sum int
					// It reads pages that have left the memory of the writer.
					if err := tx.QueryRowContext(ctx, "SELECT SUM(length(hex(content))) / 2 FROM pages").Scan(&sum); err != nil || sum != n*size.rows*1000 {
						t.Errorf("the transaction sees %d bytes, %v", sum, err)
					}
					return given
				})
				if !errors.Is(err, given) {
					t.Fatal(err)
				}
				whole(t, path, (n-1)*size.rows)
				exec(t, db, fill, size.rows)
				whole(t, path, n*size.rows)
			}
		})
	}
}

// whole fails the test unless a copy of the file is sound and has so many pages, and another connection sees as many.
func whole(t *testing.T, path string, want int) {
	t.Helper()
	crashed := filepath.Join(t.TempDir(), "crashed.db")
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(crashed+suffix, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{crashed, path} {
		pool, err := sqlite.OpenPool(t.Context(), file, 1)
		if err != nil {
			t.Fatal(err)
		}
		var verdict string
		var rows int
		err = errors.Join(
			pool.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&verdict),
			pool.QueryRowContext(t.Context(), "SELECT count(*) FROM pages").Scan(&rows),
			pool.Close(),
		)
		if err != nil || verdict != "ok" || rows != want {
			t.Errorf("%s: %s, %d rows of %d, %v", filepath.Base(file), verdict, rows, want, err)
		}
	}
}
