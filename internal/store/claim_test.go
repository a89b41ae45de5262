package store_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

// One process at a time works with a PostgreSQL database; the next one may when the
// first has gone.
func TestClaim(t *testing.T) {
	t.Parallel()
	config := store.Config{URL: postgres.Start(t), Logger: slog.New(slog.DiscardHandler)}
	first, err := store.NewClaim(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	soon, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := store.NewClaim(soon, config); !errors.Is(err, store.ErrClaimed) {
		t.Errorf("a second process is answered %v", err)
	}
	taken := make(chan error, 1)
	go func() {
		second, err := store.NewClaim(t.Context(), config)
		if err == nil {
			err = second.Close()
		}
		taken <- err
	}()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-taken; err != nil {
		t.Errorf("after the first has gone: %v", err)
	}
}
