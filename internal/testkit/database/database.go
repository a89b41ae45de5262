// Package database gives tests an empty store, which is made once for a test binary and copied, and messages to fill it with.
// Only tests import it.
package database

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/recado-project/recado/internal/store"
)

// File returns the path of an empty SQLite database of this test's own. It has all tables,
// which take the longest part of opening a new one.
func File(tb testing.TB) (path string) {
	tb.Helper()
	content, err := migrated()
	if err != nil {
		tb.Fatal(err)
	}
	path = filepath.Join(tb.TempDir(), "recado.db")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// migrated is the content of the file that all others are copies of.
//
//nolint:gochecknoglobals // a cache, of tests alone
var migrated = sync.OnceValues(func() ([]byte, error) {
	folder, err := os.MkdirTemp("", "recado")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }() // it is a temporary folder
	path := filepath.Join(folder, "recado.db")
	if _, err := store.Migrate(context.Background(), store.Config{Path: path, Logger: slog.New(slog.DiscardHandler)}); err != nil {
		return nil, err
	}
	return os.ReadFile(path) //nolint:gosec // the file above
})
