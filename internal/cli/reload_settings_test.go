package cli

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"github.com/recado-project/recado/internal/api"
	"github.com/recado-project/recado/internal/cli/settings"
)

// changing is what a reload takes over.
type changing struct {
	limits    api.Limits
	times     [6]time.Duration
	messages  int
	level     string
	repeats   int
	overruled bool // something else has changed
}

func changingOf(t *testing.T, line string) changing {
	t.Helper()
	path := filepath.Join(t.TempDir(), "recado.yaml")
	if err := os.WriteFile(path, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	read, err := readLine([]string{"serve", "--settings", path})
	if err != nil {
		t.Fatal(err)
	}
	serve := read.line.Serve
	config, err := serve.config()
	if err != nil {
		return changing{overruled: true} // it takes others too
	}
	limits := config.Limits
	limits.Bodies, limits.Requests = 0, 0
	return changing{
		limits:   limits,
		times:    [...]time.Duration{config.EditWindow, config.DeleteWindow, config.LinkLifetime, config.KeepMessages, config.KeepDelivered, config.KeepUndelivered},
		messages: config.MaxMessages,
		level:    read.line.Log.Level, repeats: serve.LogRepeats,
	}
}

// A setting that is said to change by a reload is among those that a reload takes over, and no
// other is.
func TestReloadedSettings(t *testing.T) {
	t.Parallel()
	parser, err := newParser(&commands{}, kong.Vars{})
	if err != nil {
		t.Fatal(err)
	}
	usual := changingOf(t, "")
	if usual.limits == (api.Limits{}) {
		t.Fatal("there are no limits to compare")
	}
	for _, flag := range settings.Known(parser.Model) {
		text := "x"
		switch {
		case flag.Enum != "":
			text = "warn"
			if flag.Name == "log-format" {
				text = "json"
			}
		case flag.Target.Type().String() == "time.Duration":
			text = "99h"
		case flag.IsBool():
			text = "true"
		case flag.Target.CanInt():
			text = "7"
		}
		got := changingOf(t, flag.Name+": "+text)
		if got.overruled {
			got = usual // a text that is wrong: none of those changes by a reload
		}
		if changed := got != usual; changed != settings.Reloads(flag) {
			t.Errorf("%s is said to change by a reload: %v; it does: %v", flag.Name, settings.Reloads(flag), changed)
		}
	}
}
