// The move of a gateway's data from SQLite to PostgreSQL.

package copying

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/recado-project/recado/internal/store"
)

// Moved is what became of a table.
type Moved struct {
	Table string `json:"table"`
	Rows  int64  `json:"rows"`
}

// Move copies everything from a SQLite file into an empty PostgreSQL database in one transaction, all of it
// or nothing. Before the commit it reads the copy and compares it. Then it renames the file, whose content
// does not change. After an interruption it can be called again. No gateway may work with either database.
func Move(ctx context.Context, from, to store.Config) (moved []Moved, err error) {
	if from.Path == "" || to.URL == "" {
		return nil, errors.New("a move needs a SQLite file and a PostgreSQL database")
	}
	if _, err := os.Stat(from.Path); errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(from.Path + store.MovedSuffix); err == nil {
			return nil, fmt.Errorf("the data in %s were moved already: start the gateway with --database-url", filepath.Dir(from.Path))
		}
		return nil, fmt.Errorf("there is no gateway data in %s", filepath.Dir(from.Path))
	}
	for _, config := range []store.Config{from, to} { // to the same version
		if _, err := store.Migrate(ctx, config); err != nil {
			return nil, err
		}
	}
	if moved, err = copyAll(ctx, from, to); err != nil {
		return nil, err
	}
	// SQLite has emptied and removed its log when the last connection was closed.
	if err := os.Rename(from.Path, from.Path+store.MovedSuffix); err != nil {
		return nil, fmt.Errorf("everything is in PostgreSQL; but the file must not be used any more: %w", err)
	}
	return moved, nil
}

func copyAll(ctx context.Context, from, to store.Config) (moved []Moved, err error) {
	source, err := OpenSource(ctx, from)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, source.Close(ctx)) }()
	target, err := OpenTarget(ctx, to)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, target.Close(ctx)) }()
	empty, err := Empty(ctx, target)
	if err != nil {
		return nil, err
	}
	for _, name := range tables {
		sum, err := copyTable(ctx, source, target, name, empty)
		if err != nil {
			return nil, err
		}
		moved = append(moved, Moved{Table: name, Rows: sum.Rows})
	}
	if !empty {
		return moved, nil // an earlier call was interrupted after its commit
	}
	if err := target.Finish(ctx); err != nil {
		return nil, err
	}
	return moved, target.Commit(ctx)
}

// copyTable fills a table, or checks that it is filled already.
func copyTable(ctx context.Context, source Source, target Target, name string, empty bool) (Sum, error) {
	columns, err := source.Columns(ctx, name)
	if err != nil || columns == nil {
		return Sum{}, errors.Join(err, fmt.Errorf("there is no table %s", name))
	}
	if empty {
		return FillTable(ctx, target, name, columns, source.Rows(ctx, name, columns))
	}
	is, err := SumTable(ctx, source, name, columns)
	if err != nil {
		return Sum{}, err
	}
	was, err := SumTable(ctx, target, name, columns)
	if err == nil && was != is {
		err = ErrNotEmpty
	}
	return is, err
}
