package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/recado-project/recado/internal/groupcommit"
)

// Lazy is one SQLite file whose commits don't wait for the disk. They survive the end of
// the process, but a loss of power only after the next Sync. It is for code with an SQL
// layer of its own, whose callers call Sync when commits must not be lost. It is safe
// for concurrent use.
type Lazy struct {
	*sql.DB

	path  string
	syncs *groupcommit.Group[struct{}]
}

// OpenLazy opens the file at path as OpenPool does, with one connection.
func OpenLazy(ctx context.Context, path string) (*Lazy, error) {
	pool, err := openPool(ctx, path, 1, normal)
	if err != nil {
		return nil, err
	}
	l := &Lazy{DB: pool, path: path}
	l.syncs = groupcommit.New(func(run func(struct{}) error) error {
		if err := run(struct{}{}); err != nil {
			return err
		}
		return l.syncLog()
	}, nil)
	return l, nil
}

// Sync returns when everything that was committed before the call is safe from a loss of
// power. Simultaneous calls share one wait for the disk.
func (l *Lazy) Sync(ctx context.Context) error {
	return l.syncs.Write(ctx, func(context.Context, struct{}) error { return nil }, nil)
}

// syncLog syncs the write-ahead log. Commits stay in it until SQLite moves them into the
// file, which SQLite syncs itself. Without a log there is nothing to sync.
func (l *Lazy) syncLog() error {
	log, err := os.Open(l.path + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("sqlite: open log: %w", err)
	}
	if err := errors.Join(log.Sync(), log.Close()); err != nil {
		return fmt.Errorf("sqlite: sync log: %w", err)
	}
	return nil
}
