// Migrations, which bring the database up to date at the start, and indexes on large tables.

package store

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
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

// migrator brings an open database up to date.
type migrator struct {
	db     sharedDatabase
	now    func() time.Time
	logger *slog.Logger
	tell   func(under bool, waits string) // Config.Migrating
}

const createMigrations = `CREATE TABLE IF NOT EXISTS schema_migrations (
	version BIGINT PRIMARY KEY,
	name TEXT NOT NULL,
	applied_at BIGINT NOT NULL
)`

// migrate applies the missing migrations, and returns their names. Programs that start at the same
// time wait for each other.
func (m *migrator) migrate(ctx context.Context) ([]string, error) {
	known, err := readMigrations(migrationFiles, m.db.name)
	if err != nil {
		return nil, fmt.Errorf("store: read migrations: %w", err)
	}
	return m.applyMigrations(ctx, known)
}

func (m *migrator) close() (err error) {
	defer table.Wrap(&err, "close")
	return m.db.close()
}

// Migrate brings the database up to date and closes it again. It returns the
// names of the migrations that were missing, in order.
func Migrate(ctx context.Context, config Config) ([]string, error) {
	m, err := connect(ctx, config)
	if err != nil {
		return nil, err
	}
	applied, err := m.migrate(ctx)
	return applied, errors.Join(err, m.close())
}

// MigrateTo makes a database that is empty one of an earlier version, to be filled with what
// that version has written, and closes it.
func MigrateTo(ctx context.Context, config Config, version int) error {
	m, err := connect(ctx, config)
	if err != nil {
		return err
	}
	known, err := readMigrations(migrationFiles, m.db.name)
	switch {
	case err != nil:
	case version < 1 || version > len(known):
		err = fmt.Errorf("store: migrate: there is no version %d; this program knows %d", version, len(known))
	default:
		_, err = m.applyMigrations(ctx, known[:version])
	}
	return errors.Join(err, m.close())
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

func (m *migrator) applyMigrations(ctx context.Context, known []migration) (applied []string, err error) {
	if shared, ok := m.db.database.(*postgresDatabase); ok {
		applied, err = m.migrateLive(ctx, shared.db.Pool(), known)
	} else {
		applied, err = m.migrateAlone(ctx, known)
	}
	table.Wrap(&err, "migrate")
	return applied, err
}

// migrateAlone applies the missing migrations in one transaction: nobody else works with the file.
func (m *migrator) migrateAlone(ctx context.Context, known []migration) (applied []string, err error) {
	err = m.db.Write(ctx, func(ctx context.Context, q table.Querier) error {
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
			m.tell(true, "")
			if err := step.apply(ctx, q, m.now()); err != nil {
				return fmt.Errorf("%s: %w", step.name, err)
			}
			applied = append(applied, step.name)
		}
		return makeIndexes(ctx, q, known[len(known)-1].version)
	})
	m.tell(false, "")
	return applied, err
}

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

// index is an index that no migration makes, because writes would wait for it. It has a file of its
// own, with the number of the migration that it needs and its own name, and one statement with
// CONCURRENTLY. It is made whenever it is missing.
type index struct {
	name   string
	create string
}

const concurrently = " CONCURRENTLY "

// alone is the statement for a database in which nobody else works.
func (i index) alone() string {
	return strings.Replace(strings.Replace(i.create, concurrently, " ", 1), "INDEX ", "INDEX IF NOT EXISTS ", 1)
}

// readIndexes returns the indexes of a database of a version, in the order of their migrations.
func readIndexes(files fs.FS, version int) ([]index, error) {
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
		if since > version {
			continue
		}
		all = append(all, index{name: name, create: string(script)})
	}
	return all, nil
}

// makeIndexes makes the indexes of a database of a version, as the last of its migrations.
func makeIndexes(ctx context.Context, q table.Querier, version int) error {
	all, err := readIndexes(migrationFiles, version)
	if err != nil {
		return err
	}
	for _, one := range all {
		if _, err := q.ExecContext(ctx, one.alone()); err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
	}
	return nil
}

// missingIndexes returns those indexes of a database of a version that are not there, or that a crash has
// left half made.
func missingIndexes(ctx context.Context, q table.Querier, version int) ([]index, error) {
	all, err := readIndexes(migrationFiles, version)
	if err != nil {
		return nil, err
	}
	var missing []index
	for _, one := range all {
		valid, found, err := table.Find(ctx, q, table.Value[bool], "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)", one.name)
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
