// The table with the place of files.

package store

import (
	"context"
	"fmt"

	"github.com/recado-project/recado/internal/store/table"
)

// OwnFiles gives the place of files the name of its owner, which is in the database from then on.
// open is told the name, and whether the database has had it before; it returns whether the place
// has the name too, without which the database keeps none. Processes that come at the same
// time wait for each other, and open may be called again.
func (s *Store) OwnFiles(ctx context.Context, name string, open func(ctx context.Context, owner string, known bool) (owned bool, err error)) error {
	owner, known, err := s.FilesOwner(ctx)
	if err != nil {
		return err
	}
	if known {
		_, err = open(ctx, owner, true)
		return err
	}
	return s.db.write(ctx, func(ctx context.Context, q table.Querier) error {
		if _, err := q.ExecContext(ctx, "INSERT INTO file_place (place, owner) VALUES (1, '') ON CONFLICT (place) DO NOTHING"); err != nil {
			return fmt.Errorf("store: name the place of files: %w", err)
		}
		if err := q.QueryRowContext(ctx, findFilesOwner).Scan(&owner); err != nil {
			return fmt.Errorf("store: name the place of files: %w", err)
		}
		if owner != "" { // another process was faster
			_, err := open(ctx, owner, true)
			return err
		}
		owned, err := open(ctx, name, false)
		if err != nil {
			return err
		}
		if !owned {
			name = ""
		}
		if _, err := q.ExecContext(ctx, "UPDATE file_place SET owner = $1", name); err != nil {
			return fmt.Errorf("store: name the place of files: %w", err)
		}
		return nil
	})
}

const findFilesOwner = "SELECT owner FROM file_place WHERE place = 1"

// FilesOwner returns the name that is at the place of files, and whether files have a place.
func (s *Store) FilesOwner(ctx context.Context) (owner string, found bool, err error) {
	owner, found, err = table.Find(ctx, s.db.reader(), func(row table.Scanner) (owner string, err error) {
		err = row.Scan(&owner)
		return owner, err
	}, findFilesOwner)
	if err != nil {
		return "", false, fmt.Errorf("store: owner of the files: %w", err)
	}
	return owner, found && owner != "", nil
}
