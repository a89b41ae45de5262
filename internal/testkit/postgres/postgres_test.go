package postgres_test

import (
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
