// Indexes on large tables, which are made beside what works with them.

package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/recado-project/recado/internal/store/table"
)

// index is an index that no migration makes, because writes would wait for it. It has a file of its
// own, with the number of the migration that it needs and its own name, and one statement with
// CONCURRENTLY. It is made whenever it is missing.
type index struct {
	since  int
	name   string
	create string
}

const concurrently = " CONCURRENTLY "

// alone is the statement for a database in which nobody else works.
func (i index) alone() string {
	return strings.Replace(strings.Replace(i.create, concurrently, " ", 1), "INDEX ", "INDEX IF NOT EXISTS ", 1)
}

// readIndexes returns the indexes, in the order of their migrations.
func readIndexes(files fs.FS) ([]index, error) {
	paths, err := fs.Glob(files, "migrations/indexes/*.sql") // it sorts them
	if err != nil {
		return nil, err
	}
	all := make([]index, 0, len(paths))
	for _, path := range paths {
		number, name, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(path, "migrations/indexes/"), ".sql"), "_")
		since, err := strconv.Atoi(number)
		if err != nil {
			return nil, fmt.Errorf("%s: the name does not begin with a version", path)
		}
		script, err := fs.ReadFile(files, path)
		if err != nil {
			return nil, err
		}
		if !strings.Contains(string(script), "INDEX"+concurrently+name+" ON ") {
			return nil, fmt.Errorf("%s: want one statement that makes the index %s concurrently", path, name)
		}
		all = append(all, index{since: since, name: name, create: string(script)})
	}
	return all, nil
}

// makeIndexes makes the indexes of a database of a version, as the last of its migrations.
func makeIndexes(ctx context.Context, q table.Querier, version int) error {
	all, err := readIndexes(migrationFiles)
	if err != nil {
		return err
	}
	for _, one := range all {
		if one.since > version {
			continue
		}
		if _, err := q.ExecContext(ctx, one.alone()); err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
	}
	return nil
}

// missingIndexes returns those indexes of a database of a version that are not there, or that a crash has
// left half made.
func missingIndexes(ctx context.Context, q table.Querier, version int) ([]index, error) {
	all, err := readIndexes(migrationFiles)
	if err != nil {
		return nil, err
	}
	var missing []index
	for _, one := range all {
		if one.since > version {
			continue
		}
		valid, found, err := table.Find(ctx, q, func(row table.Scanner) (valid bool, err error) {
			err = row.Scan(&valid)
			return valid, err
		}, "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)", one.name)
		if err != nil {
			return nil, err
		}
		if !found || !valid {
			missing = append(missing, one)
		}
	}
	return missing, nil
}

// errNoIndex is the error for an index that is not there after it was made.
var errNoIndex = errors.New("the index was not made")
