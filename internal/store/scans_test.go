package store

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"time"
)

// A query that reads many rows ends with its context: a client that has left must not
// keep a reader busy.
func TestScansEnd(t *testing.T) {
	t.Parallel()
	s := openEmpty(t, Config{Path: filepath.Join(t.TempDir(), "recado.db"), Logger: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000000) SELECT count(*) FROM n"
	var count int
	err := s.db.scanner().QueryRowContext(ctx, endless).Scan(&count)
	if !errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil || err == nil {
		t.Errorf("it has counted to %d, %v", count, err)
	}
}
