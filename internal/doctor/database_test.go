package doctor

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/server"
	"github.com/recado-project/recado/internal/sqlite"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

// change runs a statement in the SQLite file of a data folder.
func change(t *testing.T, folder, statement string) {
	t.Helper()
	pool, err := sql.Open("sqlite", filepath.Join(folder, "recado.db"))
	if err == nil {
		_, err = pool.ExecContext(t.Context(), statement)
		err = errors.Join(err, pool.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	settings := server.Config{DataDir: folder(t)}
	look := func() []Finding {
		t.Helper()
		e := openedFor(t, with(t, settings))
		return append(e.databaseItself(t.Context()), e.durability(t.Context())...)
	}
	fine(t, look())
	fill(t, settings, nil)
	found := look()
	fine(t, found)
	says(t, found, OK, "which is this program's")
	says(t, found, OK, "durability: write-ahead log")
	says(t, found, OK, "integrity: every page")

	change(t, settings.DataDir, "DELETE FROM schema_migrations WHERE version > 10")
	says(t, look(), Warning, "they have version 10, and ")
	change(t, settings.DataDir, "INSERT INTO schema_migrations (version, name, applied_at) VALUES (999, 'later', 0)")
	says(t, look(), Wrong, "they have version 999")
	change(t, settings.DataDir, "PRAGMA journal_mode = DELETE")
	says(t, look(), Warning, "no write-ahead log")

	file := filepath.Join(settings.DataDir, "recado.db")
	if err := os.Rename(file, file+store.MovedSuffix); err != nil {
		t.Fatal(err)
	}
	says(t, look(), Wrong, "were moved to PostgreSQL")
	if err := os.WriteFile(file, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	says(t, look(), Wrong, "can't be used")
}

// A file in which a page was overwritten is damaged; one that a gateway writes to meanwhile is
// not.
func TestSQLiteIntegrity(t *testing.T) {
	t.Parallel()
	settings := server.Config{DataDir: folder(t)}
	fill(t, settings, nil)
	file := filepath.Join(settings.DataDir, "recado.db")
	db, err := sqlite.Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	e := openedFor(t, with(t, settings))
	insert := func(ctx context.Context, n int) error {
		return db.Write(ctx, func(ctx context.Context, tx *sqlite.Tx) error {
			_, err := tx.ExecContext(ctx, "INSERT INTO secrets (name, value) VALUES ($1, zeroblob(3000))", n)
			return err
		})
	}
	for n := range 200 {
		if err := insert(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	written := make(chan error, 1)
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		var err error
		for n := 200; err == nil && ctx.Err() == nil; n++ {
			err = insert(ctx, n)
		}
		if ctx.Err() != nil {
			err = nil
		}
		written <- err
	}()
	for range 5 {
		fine(t, []Finding{e.whole(t.Context())})
	}
	stop()
	if err := errors.Join(<-written, e.database.Close(), db.Close()); err != nil { // the last one empties the log into the file
		t.Fatal(err)
	}

	content, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	about, err := content.Stat()
	if err != nil {
		t.Fatal(err)
	}
	_, err = content.WriteAt([]byte(strings.Repeat("damage", 3000)), about.Size()/10*9)
	if err := errors.Join(err, content.Close()); err != nil {
		t.Fatal(err)
	}
	says(t, openedFor(t, with(t, settings)).databaseItself(t.Context()), Wrong, "integrity: the file is damaged")
}

// postgresOf is an examination of a PostgreSQL database.
func postgresOf(t *testing.T, at string) []Finding {
	t.Helper()
	e := openedFor(t, with(t, server.Config{DatabaseURL: at}))
	return append(e.databaseItself(t.Context()), e.durability(t.Context())...)
}

func TestPostgres(t *testing.T) {
	t.Parallel()
	at := postgres.Start(t)
	fine(t, postgresOf(t, at))
	fill(t, server.Config{DatabaseURL: at}, nil)
	found := postgresOf(t, at)
	fine(t, found)
	for _, text := range []string{"database: PostgreSQL ", "without a pooler", "tables: they have version", "connections: ", "durability: fsync, "} {
		says(t, found, OK, text)
	}
	name := strings.TrimPrefix(strings.Split(at, "?")[0], "postgres://postgres@/")
	postgres.Load(t, at, "ALTER DATABASE "+name+" SET synchronous_commit = off; ALTER DATABASE "+name+" CONNECTION LIMIT 12")
	found = postgresOf(t, at)
	says(t, found, Wrong, "synchronous_commit is off")
	says(t, found, Wrong, "the server allows 12 by the database's CONNECTION LIMIT")
}

func TestPostgresThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	found := postgresOf(t, "postgres://ana:secret@"+closedPort(t)+"/recado")
	says(t, found, Wrong, "can't be used")
	says(t, found, Warning, "durability: not looked at")
	if strings.Contains(list(found), "secret") {
		t.Errorf("the password is there: %s", list(found))
	}
	says(t, postgresOf(t, postgres.Pooler(t, postgres.Start(t))), Wrong, "there is a pooler")
}

// What the whole server is told, and a standby.
func TestPostgresServer(t *testing.T) {
	t.Parallel()
	address, _ := postgres.StartOwn(t)
	fine(t, postgresOf(t, address))
	postgres.Load(t, address, "ALTER SYSTEM SET fsync = off")
	postgres.Load(t, address, "ALTER SYSTEM SET full_page_writes = off")
	postgres.Load(t, address, "SELECT pg_reload_conf()")
	deadline := time.Now().Add(30 * time.Second)
	for {
		found := postgresOf(t, address)
		if text := list(found); strings.Contains(text, "fsync is off") && strings.Contains(text, "full_page_writes is off") {
			says(t, found, Wrong, "durability: fsync is off")
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("found %s", text)
		}
	}

	pair, _ := postgres.StartPair(t)
	parsed, err := url.Parse(pair)
	if err != nil {
		t.Fatal(err)
	}
	fine(t, postgresOf(t, pair))
	_, standby, _ := strings.Cut(parsed.Query().Get("host"), ",")
	parsed.RawQuery = url.Values{"host": {standby}}.Encode()
	says(t, postgresOf(t, parsed.String()), Wrong, "standby: ")
}

// Clocks are compared with the database's, and a difference is told.
func TestClocks(t *testing.T) {
	t.Parallel()
	at := postgres.Start(t)
	for _, test := range []struct {
		off   time.Duration
		state State
		text  string
	}{{0, OK, "differs by no more"}, {40 * time.Second, Warning, "ahead"}, {-10 * time.Minute, Wrong, "behind"}} {
		e := openedFor(t, with(t, server.Config{DatabaseURL: at}))
		e.config.Now = func() time.Time { return time.Now().Add(test.off) }
		e.platformClock <- clocked{there: time.Now(), here: e.config.Now(), known: true}
		found := e.clocks(t.Context())
		if len(found) != 2 {
			t.Fatalf("found %v", found)
		}
		for _, one := range found {
			says(t, []Finding{one}, test.state, test.text)
		}
	}
	e := with(t, server.Config{})
	e.platformClock <- clocked{}
	says(t, e.clocks(t.Context()), Warning, "has not told its time")
}
