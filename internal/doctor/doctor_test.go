package doctor

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/server"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/whatsapp"
)

// with is an examination of a gateway with these settings.
func with(t *testing.T, settings server.Config) *examination {
	t.Helper()
	if settings.DataDir == "" {
		settings.DataDir = folder(t)
	}
	return newExamination(Config{Server: settings, Now: time.Now})
}

// opened is e with its database open, until the test ends.
func openedFor(t *testing.T, e *examination) *examination {
	t.Helper()
	e.open(t.Context())
	if e.database != nil {
		t.Cleanup(func() {
			if err := e.database.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return e
}

// folder is a data folder as a gateway makes it.
func folder(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// fill makes the tables of a gateway with these settings, and lets a function fill them.
func fill(t *testing.T, settings server.Config, do func(s *store.Store) error) {
	t.Helper()
	config := server.StoreConfig(settings.DataDir, settings.DatabaseURL, slog.New(slog.DiscardHandler))
	config.Master = settings.MasterKey
	s, err := store.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	if do != nil {
		if err := do(s); err != nil {
			t.Error(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// says fails unless one of the findings has that state and contains that text. What is not ok
// has to say what to do.
func says(t *testing.T, findings []Finding, state State, text string) {
	t.Helper()
	found := false
	for _, one := range findings {
		found = found || one.State == state && strings.Contains(one.Check+": "+one.Found, text)
		if (one.State == OK) != (one.Do == "") || one.Check == "" || one.Found == "" {
			t.Errorf("half a finding: %+v", one)
		}
	}
	if !found {
		t.Errorf("want %s with %q, found %s", state, text, list(findings))
	}
}

// fine fails unless everything is ok.
func fine(t *testing.T, findings []Finding) {
	t.Helper()
	for _, one := range findings {
		if one.State != OK || one.Do != "" {
			t.Errorf("not ok: %+v", one)
		}
	}
	if len(findings) == 0 {
		t.Error("nothing was looked at")
	}
}

func list(findings []Finding) string {
	var text strings.Builder
	for _, one := range findings {
		fmt.Fprintf(&text, "\n\t%s\t%s: %s", one.State, one.Check, one.Found)
	}
	return text.String()
}

func closedPort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// A check that hangs is reported, and the others are not lost with it.
func TestHangingCheck(t *testing.T) {
	t.Parallel()
	e := with(t, server.Config{})
	e.patience = 10 * time.Millisecond
	released := make(chan struct{})
	defer close(released)
	found := e.examine(t.Context(), []check{
		{"disk", func(context.Context) []Finding {
			<-released
			return nil
		}},
		{"clock", func(context.Context) []Finding { return []Finding{ok("clock", "it ticks")} }},
	})
	says(t, found, Wrong, "disk: there was no answer")
	says(t, found, OK, "clock: it ticks")
}

// Everything is looked at, also where there is nothing yet, and something is said of each.
func TestExamineNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "missing")
	found := Examine(t.Context(), Config{Server: server.Config{DataDir: path, Platform: whatsapp.Config{PlatformURL: "ws://" + closedPort(t)}}, Now: time.Now})
	for _, name := range []string{
		"settings", "master key", "data folder", "disk space", "fsync", "database", "durability", "clock", "files", "ffmpeg", "platform",
		"proxies", "public address", "nodes", "instances", "webhooks",
	} {
		seen := false
		for _, one := range found {
			seen = seen || strings.HasPrefix(one.Check, name)
		}
		if !seen {
			t.Errorf("nothing is said of %s: %s", name, list(found))
		}
	}
	says(t, found, Warning, "there is no "+path)
	if _, err := os.Stat(path); err == nil {
		t.Error("a folder was made")
	}
}
