package store_test

import (
	"log/slog"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(tb testing.TB, config store.Config) *store.Store {
	tb.Helper()
	config.Logger = slog.New(slog.DiscardHandler)
	s, err := store.Open(tb.Context(), config)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

func TestOpenNeedsOneDatabase(t *testing.T) {
	t.Parallel()
	for name, config := range cases.Sorted(map[string]store.Config{
		"none":         {},
		"both":         {Path: "recado.db", URL: "postgres://localhost/recado"},
		"no URL":       {URL: "postgres://localhost:port"},
		"not a folder": {Path: filepath.Join("store_test.go", "recado.db")},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config.Logger = slog.New(slog.DiscardHandler)
			if s, err := store.Open(t.Context(), config); err == nil {
				_ = s.Close()
				t.Error("opened")
			}
		})
	}
}
