package copying_test

import (
	"log/slog"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/recado-project/recado/internal/copying"
	"github.com/recado-project/recado/internal/postgres"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/await"
	server "github.com/recado-project/recado/internal/testkit/postgres"
)

// A copy waits for a migration, and no migration begins while it is made.
func TestCopyAndMigrationExcludeEachOther(t *testing.T) {
	t.Parallel()
	config := store.Config{URL: server.Start(t), Logger: slog.New(slog.DiscardHandler)}
	conn, err := pgx.Connect(t.Context(), config.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	try := func() (taken bool) {
		t.Helper()
		if err := conn.QueryRow(t.Context(), "SELECT pg_try_advisory_lock($1)", int64(postgres.MigrationLock)).Scan(&taken); err != nil {
			t.Fatal(err)
		}
		return taken
	}
	if !try() {
		t.Fatal("somebody has the lock")
	}
	opened := make(chan copying.Source, 1)
	go func() {
		source, err := copying.OpenSource(t.Context(), config)
		if err != nil {
			t.Error(err)
		}
		opened <- source
	}()
	await.Until(t, "the copy to ask for the lock", func() bool {
		var waiting bool
		err := conn.QueryRow(t.Context(), `SELECT EXISTS (SELECT 1 FROM pg_stat_activity
			WHERE datname = current_database() AND application_name = 'recado backup' AND query LIKE '%advisory%')`).Scan(&waiting)
		return err == nil && waiting
	})
	if len(opened) > 0 {
		t.Error("the copy has begun")
	}
	if _, err := conn.Exec(t.Context(), "SELECT pg_advisory_unlock_all()"); err != nil {
		t.Fatal(err)
	}
	source := <-opened
	if try() {
		t.Error("a migration would begin")
	}
	if err := source.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
