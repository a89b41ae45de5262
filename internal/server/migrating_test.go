package server_test

import (
	"context"
	"database/sql"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // it is the driver

	"github.com/recado-project/recado/internal/server"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/postgres"
	"github.com/recado-project/recado/internal/testkit/process"
)

// While a start waits with its migrations for somebody who reads, its listener says so.
func TestStartThatMigratesSaysSo(t *testing.T) {
	t.Parallel()
	url, admin := postgres.Start(t), process.FreeAddress(t)
	if err := store.MigrateTo(t.Context(), server.StoreConfig("", url, testkit.Logger(t)), 20); err != nil {
		t.Fatal(err)
	}
	others, err := sql.Open("pgx", url+"&application_name=report")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = others.Close() }()
	reading, err := others.BeginTx(t.Context(), nil)
	if err == nil {
		_, err = reading.ExecContext(t.Context(), "LOCK TABLE messages IN ACCESS SHARE MODE")
	}
	if err != nil {
		t.Fatal(err)
	}
	started := make(chan error, 1)
	go func() {
		s, err := server.New(context.WithoutCancel(t.Context()), server.Config{
			Listen: "127.0.0.1:0", AdminListen: admin, DataDir: t.TempDir(), DatabaseURL: url, Version: "test", Logger: testkit.Logger(t),
		})
		if err == nil {
			err = s.Close()
		}
		started <- err
	}()
	get := func(path string) (int, string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+admin+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return 0, ""
		}
		defer func() { _ = response.Body.Close() }()
		body, _ := io.ReadAll(response.Body)
		return response.StatusCode, string(body)
	}
	testkit.Await(t, "/readyz to say what the start waits for", func() bool {
		status, said := get("/readyz")
		return status == http.StatusServiceUnavailable && strings.HasPrefix(said, `migrating: it waits for "report" (process `)
	})
	if status, _ := get("/healthz"); status != http.StatusOK {
		t.Errorf("/healthz answers %d", status)
	}
	if status, _ := get("/metrics"); status != http.StatusServiceUnavailable {
		t.Errorf("/metrics answers %d", status)
	}
	if err := reading.Rollback(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-started:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it did not start")
	}
	http.DefaultClient.CloseIdleConnections()
}
