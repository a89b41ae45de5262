// A file that is only read, perhaps beside the program that works with it.

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
)

// OpenReader opens an existing file for reading alone, with one connection: it makes nothing,
// changes nothing, and keeps nobody from writing. What it reads is as it was committed.
//
// Without a log (-wal) nobody has the file open. Then it is read as a file that does not change,
// because SQLite would otherwise make a log and leave it. If a program begins to write just
// then, what is read may contradict itself: who finds the file damaged opens it once more.
func OpenReader(ctx context.Context, path string) (*sql.DB, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("sqlite: open %s: %w", filepath.Base(path), err)
	}
	if _, err := os.Stat(absolute); err != nil {
		return nil, fmt.Errorf("sqlite: open: %w", err)
	}
	query := url.Values{"mode": {"ro"}, "_pragma": {fmt.Sprintf("busy_timeout(%d)", busyTimeoutMs), "query_only(1)"}}
	if _, err := os.Stat(absolute + "-wal"); errors.Is(err, fs.ErrNotExist) {
		query.Set("immutable", "1")
	}
	pool, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: filepath.ToSlash(absolute), RawQuery: query.Encode()}).String())
	if err != nil {
		return nil, fmt.Errorf("sqlite: open %s: %w", filepath.Base(path), err)
	}
	pool.SetMaxOpenConns(1)
	var tables int
	if err := pool.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return nil, errors.Join(fmt.Errorf("sqlite: open %s: %w", filepath.Base(path), err), pool.Close())
	}
	return pool, nil
}
