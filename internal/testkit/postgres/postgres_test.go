package postgres_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/recado-project/recado/internal/testkit/postgres"
)

func TestStartGivesEachTestItsOwnDatabase(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"one", "other"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := pgx.Connect(t.Context(), postgres.Start(t))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close(t.Context()) }()
			if _, err := conn.Exec(t.Context(), "CREATE TABLE numbers (n INTEGER)"); err != nil {
				t.Error(err)
			}
		})
	}
}

// Statements that are sent together are one round trip, and each statement that waits for
// the one before it is one more.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	through, count := postgres.RoundTrips(t, postgres.Start(t))
	conn, err := pgx.Connect(t.Context(), through)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if got := count(); got != 1 {
		t.Errorf("to connect takes %d round trips, want 1", got)
	}
	made := func(what string, want int64, do func() error) {
		t.Helper()
		before := count()
		if err := do(); err != nil {
			t.Fatal(err)
		}
		if got := count() - before; got != want {
			t.Errorf("%s takes %d round trips, want %d", what, got, want)
		}
	}
	large := strings.Repeat("x", 1<<20)
	made("a large statement with a large answer", 1, func() error {
		_, err := conn.Exec(t.Context(), "SELECT '"+large+"'")
		return err
	})
	made("three statements, one after another", 3, func() error {
		for range 3 {
			if _, err := conn.Exec(t.Context(), "SELECT 1"); err != nil {
				return err
			}
		}
		return nil
	})
	made("a transaction with a statement", 3, func() error {
		return pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), "SELECT 1")
			return err
		})
	})
	inBatch := func() error {
		var batch pgx.Batch
		for range 3 {
			batch.Queue("SELECT 1")
		}
		return conn.SendBatch(t.Context(), &batch).Close()
	}
	made("a batch whose statement is new to the client", 2, inBatch)
	made("a batch", 1, inBatch)
	other, err := pgx.Connect(t.Context(), through)
	if err != nil {
		t.Fatal(err)
	}
	made("a second connection", 1, func() error {
		_, err := other.Exec(t.Context(), "SELECT 1")
		return err
	})
	if err := other.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
