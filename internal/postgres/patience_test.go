package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/recado-project/recado/internal/postgres"
	"github.com/recado-project/recado/internal/testkit/await"
	"github.com/recado-project/recado/internal/testkit/cases"
	server "github.com/recado-project/recado/internal/testkit/postgres"
)

// Where one connection did not answer in time, the others that nobody uses are closed: the next
// callers get new ones at once, whatever they do.
func TestSilentConnections(t *testing.T) {
	t.Parallel()
	through, silence, _ := server.Forgetful(t, server.Start(t))
	db, err := postgres.Open(t.Context(), postgres.Config{URL: through, Conns: 4, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	silentFor := func(patience time.Duration, fn func(ctx context.Context) error) error {
		ctx, end := context.WithTimeout(t.Context(), patience)
		defer end()
		return fn(ctx)
	}
	for name, fn := range cases.Sorted(map[string]func(ctx context.Context) error{
		"a read": func(ctx context.Context) error {
			var one int
			return db.Pool().QueryRowContext(ctx, "SELECT 1").Scan(&one)
		},
		"a statement": func(ctx context.Context) error {
			_, err := db.Exec(ctx, "SELECT 1")
			return err
		},
		"a transaction": func(ctx context.Context) error {
			return db.Transact(ctx, func(tx *postgres.Tx) error { return tx.ExecLater("SELECT 1 WHERE $1", true) })
		},
	}) {
		all := make(chan error, 4) // so many connections that nobody uses
		for range cap(all) {
			go func() {
				_, err := db.Exec(t.Context(), "SELECT pg_sleep(0.1)")
				all <- err
			}()
		}
		for range cap(all) {
			if err := <-all; err != nil {
				t.Fatal(err)
			}
		}
		if idle := db.Pool().Stats().Idle; idle < 2 {
			t.Fatalf("%s: %d connections are idle", name, idle)
		}
		silence()
		if err := silentFor(200*time.Millisecond, fn); err == nil {
			t.Errorf("%s: a silent connection answers", name)
		}
		if err := silentFor(5*time.Second, fn); err != nil {
			t.Errorf("%s: after it, there is no answer: %v", name, err)
		}
	}
}

// A server that is silent for longer than this program waits is given up, unless it is known to
// take long.
func TestPatience(t *testing.T) {
	t.Parallel()
	const patience, longer = 500 * time.Millisecond, "SELECT pg_sleep(1)"
	db, err := postgres.Open(t.Context(), postgres.Config{
		URL: server.Start(t), Conns: 1, Logger: slog.New(slog.DiscardHandler), Patience: patience,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	for name, fn := range cases.Sorted(map[string]func(ctx context.Context) error{
		"a statement": func(ctx context.Context) error {
			_, err := db.Exec(ctx, longer)
			return err
		},
		"a transaction": func(ctx context.Context) error {
			return db.Transact(ctx, func(tx *postgres.Tx) error { return tx.ExecLater(longer+" WHERE $1", true) })
		},
		"a script": func(ctx context.Context) error {
			return db.Transact(ctx, func(tx *postgres.Tx) error {
				_, err := tx.ExecContext(ctx, "SELECT 1; "+longer)
				return err
			})
		},
	}) {
		began := time.Now()
		err := fn(t.Context())
		if took := time.Since(began); !pgconn.Timeout(err) || took < patience {
			t.Errorf("%s: after %s the error is %v", name, took, err)
		}
		if _, uncertain := errors.AsType[*postgres.UncertainError](err); !uncertain && name != "a script" {
			t.Errorf("%s: it may have been carried out, and the error is %v", name, err)
		}
	}
	conn, err := db.Pool().Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	hurry, err := postgres.Unhurry(conn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(t.Context(), longer); err != nil {
		t.Errorf("what may take long was given up: %v", err)
	}
	hurry()
	if _, err := conn.ExecContext(t.Context(), longer); !pgconn.Timeout(err) {
		t.Errorf("afterwards it may take as long as before: %v", err)
	}
	_ = conn.Close() // it was given up
}

// Who waits for a commit, or for a statement, and loses the connection, does not know what became of it.
func TestCutIsUncertain(t *testing.T) {
	t.Parallel()
	url := server.Start(t)
	through, _, cut := server.Forgetful(t, url)
	open := func(url string) *postgres.DB {
		db, err := postgres.Open(t.Context(), postgres.Config{URL: url, Conns: 1, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		return db
	}
	db, watcher := open(through), open(url)
	sleeping := func() (sleeps bool) {
		if err := watcher.Pool().QueryRowContext(t.Context(), `SELECT EXISTS (SELECT 1 FROM pg_stat_activity
			WHERE wait_event = 'PgSleep' AND datname = current_database())`).Scan(&sleeps); err != nil {
			t.Fatal(err)
		}
		return sleeps
	}
	for name, fn := range cases.Sorted(map[string]func() error{
		"a commit": func() error {
			return db.Transact(t.Context(), func(tx *postgres.Tx) error { return tx.ExecLater("SELECT pg_sleep($1)", 2) })
		},
		"a statement": func() error {
			_, err := db.Exec(t.Context(), "SELECT pg_sleep($1)", 2)
			return err
		},
		"a statement without arguments": func() error {
			_, err := db.Exec(t.Context(), "SELECT pg_sleep(2)")
			return err
		},
	}) {
		done := make(chan error, 1)
		go func() { done <- fn() }()
		await.Until(t, name+" waits", sleeping)
		cut()
		err := <-done
		if _, uncertain := errors.AsType[*postgres.UncertainError](err); !uncertain {
			t.Errorf("%s: the error is %v", name, err)
		}
		if _, err := watcher.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = $1 AND datname = current_database()", "PgSleep"); err != nil {
			t.Error(err)
		}
		await.Until(t, "its session has ended", func() bool { return !sleeping() })
	}
}

// A server that takes connections and says nothing costs one caller its time, and not everyone who connects.
func TestSilentServerIsPassedOver(t *testing.T) {
	t.Parallel()
	other, err := pgx.ParseConfig(server.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int64
	var silent sync.WaitGroup
	silent.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			asked.Add(1)
			silent.Go(func() {
				_, _ = io.Copy(io.Discard, conn)
				_ = conn.Close()
			})
		}
	})
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
		silent.Wait()
	})
	db, err := postgres.Open(t.Context(), postgres.Config{
		URL: fmt.Sprintf("postgres://%s@/%s?host=127.0.0.1,%s&port=%d,%d&sslmode=disable&connect_timeout=1",
			other.User, other.Database, other.Host, listener.Addr().(*net.TCPAddr).Port, other.Port),
		Conns: 4, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	for range 3 { // connections beside the first one
		conn, err := db.Pool().Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the silent server was asked %d times", n)
	}
}
