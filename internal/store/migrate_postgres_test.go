package store

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	migrated "github.com/recado-project/recado/internal/postgres"
	"github.com/recado-project/recado/internal/testkit/amount"
	"github.com/recado-project/recado/internal/testkit/await"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

// liveDatabase is a database of an earlier version, with which others work.
type liveDatabase struct {
	t      *testing.T
	config Config
	pool   *sql.DB // of the others

	mu   sync.Mutex
	log  bytes.Buffer
	told []string // of the migration
}

const olderVersion = 20

func newLiveDatabase(t *testing.T) *liveDatabase {
	t.Helper()
	b := &liveDatabase{t: t}
	b.config = Config{
		URL: postgres.Start(t), Logger: slog.New(slog.NewTextHandler(b, nil)),
		Migrating: func(under bool, waits string) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.told = append(b.told, fmt.Sprint(under, " ", waits))
		},
	}
	s := openEmpty(t, b.config)
	known := shipped(t, s)
	if _, err := s.applyMigrations(t.Context(), known[:1]); err != nil {
		t.Fatal(err)
	}
	execute(t, s, rowsAt()[1]...)
	if _, err := s.applyMigrations(t.Context(), known[:olderVersion]); err != nil {
		t.Fatal(err)
	}
	b.pool = s.db.database.(*postgresDatabase).db.Pool()
	return b
}

// Write keeps what is logged.
func (b *liveDatabase) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.log.Write(line)
}

// said is what was logged and told.
func (b *liveDatabase) said() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.log.String() + strings.Join(b.told, "\n")
}

// other is a connection of another program, under its name.
func (b *liveDatabase) other(name string) *sql.Conn {
	b.t.Helper()
	conn, err := b.pool.Conn(b.t.Context())
	if err == nil {
		_, err = conn.ExecContext(b.t.Context(), "SELECT set_config('application_name', $1, false)", name)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// begin begins to migrate, and returns what waits for the end.
func (b *liveDatabase) begin() (wait func() []string) {
	type outcome struct {
		applied []string
		err     error
	}
	ended := make(chan outcome, 1)
	go func() {
		applied, err := Migrate(b.t.Context(), b.config)
		ended <- outcome{applied, err}
	}()
	return func() []string {
		b.t.Helper()
		one := <-ended
		if one.err != nil {
			b.t.Fatal(one.err)
		}
		return one.applied
	}
}

func (b *liveDatabase) newest() int {
	b.t.Helper()
	names, err := MigrationNames(b.config)
	if err != nil {
		b.t.Fatal(err)
	}
	return len(names)
}

// While somebody reads for long, a migration waits for the end of that; nobody else waits for
// longer than a moment. It says for whom it waits, and nothing of what they ask.
func TestMigrationBesideALongReader(t *testing.T) {
	t.Parallel()
	b := newLiveDatabase(t)
	reads := b.other("a long report")
	tx, err := reads.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), "SELECT count(*) FROM messages"); err != nil {
		t.Fatal(err)
	}
	read := make(chan error, 1)
	go func() {
		_, err := tx.ExecContext(t.Context(), fmt.Sprintf("SELECT pg_sleep(%d)", amount.Of(4, 20)))
		if err == nil {
			err = tx.Commit()
		}
		read <- err
	}()
	wait := b.begin()
	ctx, cancel := context.WithCancel(t.Context())
	var slowest time.Duration
	var working sync.WaitGroup
	working.Go(func() {
		for ctx.Err() == nil {
			began := time.Now()
			if _, err := b.pool.ExecContext(context.WithoutCancel(ctx), "UPDATE messages SET text = text"); err != nil {
				t.Error(err)
			}
			slowest = max(slowest, time.Since(began))
		}
	})
	if err := <-read; err != nil {
		t.Error(err)
	}
	applied := wait()
	cancel()
	working.Wait()
	if slowest >= 3*time.Second {
		t.Errorf("somebody has waited for %s", slowest)
	}
	if len(applied) != b.newest()-olderVersion {
		t.Errorf("applied %v", applied)
	}
	said := b.said()
	for _, want := range []string{"level=WARN", `application="a long report"`, "process=", `true it waits for "a long report" (process `, "false "} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in what was said:\n%s", want, said)
		}
	}
	if strings.Contains(said, "count(*)") || strings.Contains(said, "pg_sleep") {
		t.Errorf("it says what others ask:\n%s", said)
	}
}

// A copy of the whole database and a migration exclude each other. A start without anything to
// migrate waits for nobody.
func TestMigrationWaitsForABackup(t *testing.T) {
	t.Parallel()
	b := newLiveDatabase(t)
	backup := b.other("recado backup")
	lock := func(statement string) {
		t.Helper()
		if _, err := backup.ExecContext(t.Context(), statement, int64(migrated.MigrationLock)); err != nil {
			t.Fatal(err)
		}
	}
	lock("SELECT pg_advisory_lock_shared($1)")
	wait := b.begin()
	await.Until(t, "the migration to say for whom it waits", func() bool {
		return strings.Contains(b.said(), `true it waits for "recado backup"`)
	})
	lock("SELECT pg_advisory_unlock_shared($1)")
	if applied := wait(); len(applied) != b.newest()-olderVersion {
		t.Errorf("applied %v", applied)
	}
	lock("SELECT pg_advisory_lock_shared($1)")
	if applied := b.begin()(); len(applied) != 0 {
		t.Errorf("applied %v", applied)
	}
}

// An index that a crash has left half made, or that is missing, is made by the next start.
func TestIndexesAreMadeAgain(t *testing.T) {
	t.Parallel()
	b := newLiveDatabase(t)
	b.begin()()
	for _, damage := range []string{
		"UPDATE pg_index SET indisvalid = FALSE WHERE indexrelid = to_regclass('messages_starred')",
		"DROP INDEX messages_starred",
	} {
		if _, err := b.pool.ExecContext(t.Context(), damage); err != nil {
			t.Fatal(err)
		}
		b.begin()()
		var valid bool
		if err := b.pool.QueryRowContext(t.Context(), "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('messages_starred')").Scan(&valid); err != nil || !valid {
			t.Errorf("after %q it is valid: %t, %v", damage, valid, err)
		}
	}
}
