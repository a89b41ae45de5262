package settings_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"github.com/recado-project/recado/internal/cli/settings"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// line is a command line like the program's.
type line struct {
	JSON  bool   `name:"json"`
	Level string `name:"log-level" enum:"debug,info" default:"info" reload:""`
	Serve struct {
		Settings string        `name:"settings"`
		Listen   string        `default:"127.0.0.1:8080"`
		MaxMedia int64         `default:"100"`
		Keep     time.Duration `name:"keep-media" default:"72h" reload:""`
		Proxied  bool          `name:"behind-proxy"`
		Deny     []string      `name:"deny-fetch"`
		Secret   string        `name:"cluster-secret" secret:""`
		Version  string        `name:"platform-version"`
		Check    bool          `env:"-"`
	} `cmd:""`
	Other struct {
		Listen string `default:"none"`
	} `cmd:""`
}

// parse reads a command line with the prefix SETTINGSTEST for its variables.
func parse(tb testing.TB, args ...string) (line, *settings.File, error) {
	tb.Helper()
	var (
		l      line
		loader settings.Loader
	)
	parser, err := kong.New(&l, kong.DefaultEnvars("SETTINGSTEST"), kong.WithBeforeResolve(loader.Load))
	if err != nil {
		tb.Fatal(err)
	}
	_, err = parser.Parse(args)
	return l, loader.File, err
}

// write writes a file of settings.
func write(tb testing.TB, text string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "recado.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// What the file says counts as if it were on the command line.
func TestFileIsRead(t *testing.T) {
	t.Parallel()
	l, file, err := parse(t, "serve", "--settings", write(t, `
# comments are for people
log-level: debug
max-media: 5      # here too
keep-media: 0
behind-proxy: true
deny-fetch: [203.0.113.0/24, "a,b"]
cluster-secret: "# no comment"
platform-version: 1.10
`))
	if err != nil {
		t.Fatal(err)
	}
	if l.Level != "debug" || l.Serve.MaxMedia != 5 || l.Serve.Keep != 0 || !l.Serve.Proxied || l.Serve.Secret != "# no comment" ||
		l.Serve.Version != "1.10" || strings.Join(l.Serve.Deny, " ") != "203.0.113.0/24 a,b" || l.Serve.Listen != "127.0.0.1:8080" {
		t.Errorf("read %+v", l)
	}
	if file.Len() != 7 {
		t.Errorf("it has %d settings", file.Len())
	}
	for _, nothing := range []string{"", "# nothing\n", "---\n", "null\n"} {
		if _, _, err := parse(t, "serve", "--settings", write(t, nothing)); err != nil {
			t.Errorf("%q: %v", nothing, err)
		}
	}
}

// A flag wins over a variable, a variable over the file, the file over the default. The variable
// of the file works as well, for the commands that take one.
func TestPrecedence(t *testing.T) {
	path := write(t, "listen: file:1\nmax-media: 5\nkeep-media: 1h\n")
	t.Setenv("SETTINGSTEST_SETTINGS", path)
	t.Setenv("SETTINGSTEST_LISTEN", "variable:1")
	t.Setenv("SETTINGSTEST_MAX_MEDIA", "6")
	l, _, err := parse(t, "serve", "--listen", "flag:1")
	if err != nil {
		t.Fatal(err)
	}
	if l.Serve.Listen != "flag:1" || l.Serve.MaxMedia != 6 || l.Serve.Keep != time.Hour || l.Level != "info" {
		t.Errorf("read %+v", l)
	}
	if l, file, err := parse(t, "other"); err != nil || file != nil || l.Other.Listen != "variable:1" {
		t.Errorf("a command without the flag: %+v, %v", l, err)
	}
}

// What is wrong is named with file and line, and what is meant. A secret is not repeated.
func TestMistakes(t *testing.T) {
	t.Parallel()
	for text, want := range cases.Sorted(map[string]string{
		"listen: a\nmax_media: 1":               `:2: there is no setting max_media; did you mean max-media?`,
		"SETTINGSTEST_X: 1":                     `:1: there is no setting SETTINGSTEST_X`,
		"RECADO_BEHIND_PROXY: true":             `:1: there is no setting RECADO_BEHIND_PROXY; did you mean behind-proxy?`,
		"--listen: a":                           `:1: there is no setting --listen; did you mean listen?`,
		"keep: 1h":                              `:1: there is no setting keep`,
		"json: true":                            `:1: there is no setting json`,
		"check: true":                           `:1: there is no setting check`,
		"settings: other.yaml":                  `:1: there is no setting settings`,
		"listen: a\n\nlisten: b":                `:3: listen is in line 1 already`,
		"max-media: big":                        `:1: max-media must be a whole number, not "big"`,
		"max-media: 1.5":                        `:1: max-media must be a whole number, not "1.5"`,
		"keep-media: 3 days":                    `:1: keep-media must be a duration such as 90s, 15m or 72h, not "3 days"`,
		"log-level: loud":                       `:1: log-level must be one of debug, info, not "loud"`,
		"behind-proxy: perhaps":                 `:1: behind-proxy must be true or false, not "perhaps"`,
		"cluster-secret: [s3cr3t]":              `:1: cluster-secret must be a text`,
		"deny-fetch: [[a]]":                     `:1: deny-fetch must be a list of texts`,
		"listen:":                               `:1: listen has no value; leave the line out for the default`,
		"listen: {a: b}":                        `:1: listen must be a text`,
		"listen: &a x\nmax-media: *a":           `:2: max-media must be written out: aliases are not understood`,
		"<<: {listen: a}":                       `:1: there is no setting <<`,
		"listen":                                `:1: lines have the form name: value`,
		"- listen":                              `:1: lines have the form name: value`,
		"listen: a\n---\nlisten: b":             `: there is a second document`,
		"listen: a\nb":                          `line 2: could not find`,
		"listen: " + strings.Repeat("x", 2<<20): `has more than 1048576 bytes`,
	}) {
		path := write(t, text)
		_, _, err := parse(t, "serve", "--settings", path)
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%.60q: %v, want %s", text, err, want)
		}
	}
	if _, _, err := parse(t, "serve", "--settings", filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that is not there is read")
	}
}

// A file of secrets that everybody can read is warned of.
func TestSecretsThatAllCanRead(t *testing.T) {
	t.Parallel()
	for name, c := range cases.Sorted(map[string]struct {
		text string
		mode os.FileMode
		want bool
	}{
		"its owner alone": {"cluster-secret: s3cr3t", 0o600, false},
		"a group":         {"cluster-secret: s3cr3t", 0o640, false},
		"everybody":       {"cluster-secret: s3cr3t", 0o644, true},
		"without a value": {"cluster-secret: \"\"", 0o644, false},
		"without secrets": {"listen: a", 0o644, false},
	}) {
		path := write(t, c.text)
		if err := os.Chmod(path, c.mode); err != nil {
			t.Fatal(err)
		}
		_, file, err := parse(t, "serve", "--settings", path)
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		file.WarnExposed(t.Context(), slog.New(slog.NewTextHandler(&log, nil)))
		if warned := strings.Contains(log.String(), "settings=[cluster-secret]"); warned != c.want || strings.Contains(log.String(), "s3cr3t") {
			t.Errorf("%s: warned %v: %s", name, warned, &log)
		}
	}
	var none *settings.File
	none.WarnExposed(t.Context(), slog.New(slog.DiscardHandler))
}

// A file of settings is read or refused, whatever is in it.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"listen: a", "deny-fetch: [a, 'b']", "a: &a [*a]", "? x\n: y", "\xff", "listen: |\n  a\n", "%YAML 1.1\n---\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, file, err := parse(t, "serve", "--settings", write(t, text))
		if (err == nil) != (file != nil) {
			t.Errorf("file %v, error %v", file, err)
		}
	})
}
