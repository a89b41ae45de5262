// Migrations: the database is brought up to date at the start.

package store

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/store/table"
)

//go:embed migrations/*.sql migrations/indexes/*.sql
var migrationFiles embed.FS

// migration is one step of the schema. A released step is never changed; a later step
// corrects it.
type migration struct {
	version int
	name    string // of the file, up to the first dot
	script  string
}

const createMigrations = `CREATE TABLE IF NOT EXISTS schema_migrations (
	version BIGINT PRIMARY KEY,
	name TEXT NOT NULL,
	applied_at BIGINT NOT NULL
)`

// migrate applies the missing migrations, and returns their names. Programs that start at the same
// time wait for each other.
func (s *Store) migrate(ctx context.Context) ([]string, error) {
	known, err := readMigrations(migrationFiles, s.dialect.name)
	if err != nil {
		return nil, fmt.Errorf("store: read migrations: %w", err)
	}
	return s.applyMigrations(ctx, known)
}

// MigrateTo makes a database that is empty one of an earlier version, to be filled with what
// that version has written, and closes it.
func MigrateTo(ctx context.Context, config Config, version int) error {
	s, err := open(ctx, config)
	if err != nil {
		return err
	}
	known, err := readMigrations(migrationFiles, s.dialect.name)
	switch {
	case err != nil:
	case version < 1 || version > len(known):
		err = fmt.Errorf("store: migrate: there is no version %d; this program knows %d", version, len(known))
	default:
		_, err = s.applyMigrations(ctx, known[:version])
	}
	return errors.Join(err, s.Close())
}

// MigrationNames returns the names of all migrations of the database of config, in order: the
// number of a database's version is how many of them it has. It opens nothing.
func MigrationNames(config Config) ([]string, error) {
	database := sqliteDialect().name
	if config.URL != "" {
		database = postgresDialect().name
	}
	known, err := readMigrations(migrationFiles, database)
	if err != nil {
		return nil, fmt.Errorf("store: read migrations: %w", err)
	}
	names := make([]string, len(known))
	for i, step := range known {
		names[i] = step.name
	}
	return names, nil
}

func (s *Store) applyMigrations(ctx context.Context, known []migration) (applied []string, err error) {
	if shared, ok := s.db.(*postgresDatabase); ok {
		applied, err = s.migrateBeside(ctx, shared.db.Pool(), known)
	} else {
		applied, err = s.migrateAlone(ctx, known)
	}
	if err != nil {
		return nil, fmt.Errorf("store: migrate: %w", err)
	}
	return applied, nil
}

// migrateAlone applies the missing migrations in one transaction: nobody else works with the file.
func (s *Store) migrateAlone(ctx context.Context, known []migration) (applied []string, err error) {
	err = s.db.write(ctx, func(ctx context.Context, q table.Querier) error {
		applied = nil
		if _, err := q.ExecContext(ctx, createMigrations); err != nil {
			return fmt.Errorf("create schema_migrations: %w", err)
		}
		var current int
		if err := q.QueryRowContext(ctx, "SELECT COALESCE(MAX(version), 0) FROM schema_migrations").Scan(&current); err != nil {
			return fmt.Errorf("read the version: %w", err)
		}
		if err := refuseNewer(current, known); err != nil {
			return err
		}
		for _, step := range known {
			if step.version <= current {
				continue
			}
			s.tellMigrating("")
			if err := step.apply(ctx, q, s.now()); err != nil {
				return fmt.Errorf("%s: %w", step.name, err)
			}
			applied = append(applied, step.name)
		}
		return makeIndexes(ctx, q, known[len(known)-1].version)
	})
	s.migrated()
	return applied, err
}

// refuseNewer is the error for a database of a newer program.
func refuseNewer(current int, known []migration) error {
	if newest := known[len(known)-1].version; current > newest {
		return fmt.Errorf("the database has version %d and was written by a newer program; this one knows version %d", current, newest)
	}
	return nil
}

func (m migration) apply(ctx context.Context, q table.Querier, at time.Time) error {
	// Without arguments both drivers run a script of several statements.
	if _, err := q.ExecContext(ctx, m.script); err != nil {
		return err
	}
	_, err := q.ExecContext(ctx, "INSERT INTO schema_migrations (version, name, applied_at) VALUES ($1, $2, $3)",
		m.version, m.name, table.Millis(at))
	return err
}

// readMigrations returns the migrations of a database in order. Their versions must start
// at 1 and have no gap.
func readMigrations(files fs.FS, database string) ([]migration, error) {
	paths, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	var all []migration
	for _, path := range paths {
		name, kind, _ := strings.Cut(strings.TrimPrefix(path, "migrations/"), ".")
		if kind != "sql" && kind != database+".sql" {
			continue
		}
		number, _, _ := strings.Cut(name, "_")
		version, err := strconv.Atoi(number)
		if err != nil {
			return nil, fmt.Errorf("%s: the name does not begin with a version", path)
		}
		script, err := fs.ReadFile(files, path)
		if err != nil {
			return nil, err
		}
		all = append(all, migration{version: version, name: name, script: string(script)})
	}
	slices.SortFunc(all, func(a, b migration) int { return a.version - b.version })
	for i, step := range all {
		if step.version != i+1 {
			return nil, fmt.Errorf("%s: want version %d", step.name, i+1)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("there are none")
	}
	return all, nil
}
