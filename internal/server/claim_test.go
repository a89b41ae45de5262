package server_test

import (
	"errors"
	"testing"

	"github.com/recado-project/recado/internal/server"
	"github.com/recado-project/recado/internal/store/claim"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

// Two processes with data folders of their own must not share a database: both would
// connect the same sessions.
func TestSecondProcessOnOneDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	url := postgres.Start(t)
	testkit.Start(t, testkit.Options{DatabaseURL: url})
	second, err := server.New(t.Context(), server.Config{
		Listen: "127.0.0.1:0", DataDir: t.TempDir(), DatabaseURL: url, Version: "test", Logger: testkit.Logger(t),
	})
	if err == nil {
		_ = second.Close()
	}
	if !errors.Is(err, claim.ErrTaken) {
		t.Errorf("the second process is answered %v", err)
	}
}
