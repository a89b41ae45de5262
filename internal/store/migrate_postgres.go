// Migrations of a PostgreSQL database while other nodes work with it.

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/postgres"
	"github.com/recado-project/recado/internal/sqlerror"
	"github.com/recado-project/recado/internal/store/table"
)

const (
	// lockTimeout is how long a statement of a migration waits for a lock. Others wait behind it
	// meanwhile; then they may proceed, and the migration tries again after lockPause.
	lockTimeout = "1s"
	lockPause   = 2 * time.Second
	// blockerInterval is how often the blockers of a migration are looked up, logInterval how often
	// the same blocker is logged.
	blockerInterval, logInterval = 200 * time.Millisecond, 10 * time.Second
)

// migrationConn is the connection on which all migrations run. It holds the lock that excludes other
// migrations and backups, and polls for it: CREATE INDEX CONCURRENTLY would wait for a statement that
// waits for a lock.
type migrationConn struct {
	conn     *sql.Conn
	pool     *sql.DB
	process  int64 // of the server
	migrator *migrator
}

// migrateLive applies the missing migrations while other nodes work with the database.
func (m *migrator) migrateLive(ctx context.Context, pool *sql.DB, known []migration) (applied []string, err error) {
	q := table.QuerierOf(pool)
	current, there, err := m.currentVersion(ctx, q, known)
	if err != nil {
		return nil, err
	}
	if there && current == known[len(known)-1].version {
		missing, err := missingIndexes(ctx, q, current)
		if err != nil || len(missing) == 0 {
			return nil, err
		}
	}
	m.tell(true, "")
	defer m.tell(false, "")
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	c := &migrationConn{conn: conn, pool: pool, migrator: m}
	defer func() { err = errors.Join(err, conn.Close()) }()
	// A large table takes its time.
	hurry, err := postgres.Unhurry(conn)
	if err != nil {
		return nil, err
	}
	defer hurry()
	if err := conn.QueryRowContext(ctx, "SELECT pg_backend_pid()").Scan(&c.process); err != nil {
		return nil, err
	}
	if err := c.lock(ctx); err != nil {
		return nil, fmt.Errorf("take the lock: %w", err)
	}
	defer func() { err = errors.Join(err, c.unlock(ctx)) }()
	if _, err := conn.ExecContext(ctx, createMigrations); err != nil {
		return nil, fmt.Errorf("create schema_migrations: %w", err)
	}
	// Another process may have migrated meanwhile.
	if current, _, err = m.currentVersion(ctx, table.QuerierOf(conn), known); err != nil {
		return nil, err
	}
	var missing [][]migration
	for n, step := range known {
		switch {
		case step.version <= current:
		case current == 0: // nobody works with it: everything in one transaction
			missing = [][]migration{known[n:]}
			current = -1
		case current > 0:
			missing = append(missing, known[n:n+1])
		}
	}
	for _, steps := range missing {
		names, err := c.apply(ctx, steps, len(steps) > 1)
		if err != nil {
			return nil, err
		}
		applied = append(applied, names...)
	}
	return applied, c.makeIndexes(ctx, known[len(known)-1].version)
}

// currentVersion returns the version of the newest migration, and whether there are any. It refuses
// that of a newer program.
func (m *migrator) currentVersion(ctx context.Context, q table.Querier, known []migration) (current int, there bool, err error) {
	const named = "SELECT to_regclass('schema_migrations') IS NOT NULL"
	if err := q.QueryRowContext(ctx, named).Scan(&there); err != nil || !there {
		return 0, false, err
	}
	if err := q.QueryRowContext(ctx, "SELECT COALESCE(MAX(version), 0) FROM schema_migrations").Scan(&current); err != nil {
		return 0, true, fmt.Errorf("read the version: %w", err)
	}
	return current, true, refuseNewer(current, known)
}

// lock waits until no other migration or backup runs.
func (c *migrationConn) lock(ctx context.Context) error {
	waits := c.watch()
	for {
		var taken bool
		if err := c.conn.QueryRowContext(ctx, "SELECT pg_try_advisory_lock($1)", postgres.MigrationLock).Scan(&taken); err != nil || taken {
			return err
		}
		waits.report(ctx, table.QuerierOf(c.conn), `SELECT l.pid FROM pg_locks l JOIN pg_database d ON d.oid = l.database
			WHERE l.locktype = 'advisory' AND l.granted AND d.datname = current_database() AND (l.classid::bigint << 32) + l.objid::bigint = $1`, int64(postgres.MigrationLock))
		if err := pause(ctx, blockerInterval); err != nil {
			return err
		}
	}
}

func (c *migrationConn) unlock(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lockPause)
	defer cancel()
	_, err := c.conn.ExecContext(ctx, "SELECT pg_advisory_unlock($1)", postgres.MigrationLock)
	return err
}

// apply applies migrations in one transaction, and tries again until it gets its locks. alone says that nobody
// else works with the database.
func (c *migrationConn) apply(ctx context.Context, steps []migration, alone bool) (names []string, err error) {
	err = c.patiently(ctx, func(ctx context.Context) error {
		names = nil
		tx, err := c.conn.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }() // after the commit it does nothing
		if _, err := tx.ExecContext(ctx, "SET LOCAL lock_timeout = '"+lockTimeout+"'"); err != nil {
			return err
		}
		q := table.QuerierOf(tx)
		for _, step := range steps {
			if err := step.apply(ctx, q, c.migrator.now()); err != nil {
				return fmt.Errorf("%s: %w", step.name, err)
			}
			names = append(names, step.name)
		}
		if alone {
			if err := makeIndexes(ctx, q, steps[len(steps)-1].version); err != nil {
				return err
			}
		}
		return tx.Commit()
	})
	return names, err
}

// makeIndexes makes the missing indexes outside of a transaction, so that nobody waits for it.
func (c *migrationConn) makeIndexes(ctx context.Context, version int) error {
	for {
		missing, err := missingIndexes(ctx, table.QuerierOf(c.conn), version)
		if err != nil || len(missing) == 0 {
			return err
		}
		one := missing[0]
		err = c.patiently(ctx, func(ctx context.Context) error {
			// An index that a crash has left incomplete can't be completed.
			if _, err := c.conn.ExecContext(ctx, "DROP INDEX CONCURRENTLY IF EXISTS "+one.name); err != nil {
				return err
			}
			_, err := c.conn.ExecContext(ctx, one.create)
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
		if still, err := missingIndexes(ctx, table.QuerierOf(c.conn), version); err != nil || len(still) == len(missing) {
			return errors.Join(err, fmt.Errorf("%s: %w", one.name, errNoIndex))
		}
	}
}

// patiently runs a part of the migration until it gets its locks, and reports who blocks it meanwhile.
func (c *migrationConn) patiently(ctx context.Context, part func(ctx context.Context) error) error {
	for {
		looking, enough := context.WithCancel(ctx)
		looked := make(chan struct{})
		go func() {
			defer close(looked)
			for waits := c.watch(); pause(looking, blockerInterval) == nil; {
				// If the pool has no other connection, no blocker is reported.
				waits.report(looking, table.QuerierOf(c.pool), "SELECT unnest(pg_blocking_pids($1::int))", c.process)
			}
		}()
		err := part(ctx)
		enough()
		<-looked
		if !sqlerror.IsLocked(err) {
			return err
		}
		if err := pause(ctx, lockPause); err != nil {
			return err
		}
	}
}

// waiting reports who blocks a migration.
type waiting struct {
	conn   *migrationConn
	logged map[string]time.Time
}

func (c *migrationConn) watch() *waiting { return &waiting{conn: c, logged: map[string]time.Time{}} }

// report looks up the processes of the server that a query returns, and logs them, without the text of
// their statements. It ignores errors.
func (w *waiting) report(ctx context.Context, q table.Querier, processes string, arg int64) {
	type blocker struct {
		process     int64
		application string
		seconds     float64
	}
	found, err := table.Collect(ctx, q, table.Into(func(b *blocker) []any { return []any{&b.process, &b.application, &b.seconds} }),
		"SELECT pid, COALESCE(application_name, ''), COALESCE(extract(epoch FROM clock_timestamp() - COALESCE(xact_start, backend_start)), 0)::float8"+
			" FROM pg_stat_activity WHERE pid IN ("+processes+")", arg)
	if err != nil || len(found) == 0 {
		return
	}
	var names []string
	for _, b := range found {
		since := time.Duration(b.seconds * float64(time.Second)).Round(time.Second)
		name := fmt.Sprintf("%q (process %d of the server)", b.application, b.process)
		names = append(names, name)
		if now := w.conn.migrator.now(); now.Sub(w.logged[name]) >= logInterval {
			w.logged[name] = now
			w.conn.migrator.logger.WarnContext(ctx, "the migration of the database waits for somebody who works with it",
				slog.String("application", b.application), slog.Int64("process", b.process), slog.Duration("for", since))
		}
	}
	w.conn.migrator.tell(true, "it waits for "+strings.Join(names, ", "))
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
