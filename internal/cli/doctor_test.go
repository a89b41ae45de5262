package cli

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/cli/terminal"
	"github.com/recado-project/recado/internal/doctor"
)

// What is wrong with the settings is found as soon as they are read: every mistake, variables
// with a typo, and a file that others can read.
func TestOfSettings(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "settings.yaml")
	if err := errors.Join(os.WriteFile(file, []byte("cluster-secret: not-for-everybody"), 0o600), os.Chmod(file, 0o644)); err != nil {
		t.Fatal(err)
	}
	read, err := readLine([]string{"doctor", "--settings", file})
	if err != nil {
		t.Fatal(err)
	}
	found := ofSettings(errors.New("a mistake"), read, []string{
		"PATH=/bin", "RECADO_URL=x", "RECADO_DATABASE_URL=x", "RECADO_DEV_API_KEY=x", "RECADO_LOG_LEVEL=x", "RECADO_PLATFORM_KEY=x",
		"RECADO_WEBHOOK_SECRET=x", "RECADO_DATABSE_URL=secret", "RECADO_X",
	})
	want := []string{
		"wrong a mistake", "warning the variable RECADO_DATABSE_URL is no setting; did you mean database-url?", "warning the variable RECADO_X is no setting",
		"warning every user of this machine can read the secrets in " + file + ": cluster-secret",
	}
	if len(found) != len(want) {
		t.Fatalf("found %v", found)
	}
	for n, one := range found {
		if got := string(one.State) + " " + one.Found; got != want[n] || one.Check != "settings" || one.Do == "" {
			t.Errorf("found %+v, want %q", one, want[n])
		}
	}
	if found := ofSettings(nil, &invocation{parsed: read.parsed}, nil); len(found) > 0 {
		t.Errorf("found %v where nothing is wrong", found)
	}
}

// Every mistake is named, not the first alone.
func TestMistakesOf(t *testing.T) {
	t.Parallel()
	if found := mistakesOf(errors.Join(errors.New("one"), nil, errors.New("two"))); !slices.Equal(found, []string{"one", "two"}) {
		t.Errorf("found %q", found)
	}
	if found := mistakesOf(errors.New("one")); !slices.Equal(found, []string{"one"}) {
		t.Errorf("of one alone: %q", found)
	}
	if found := mistakesOf(nil); found != nil {
		t.Errorf("of none: %q", found)
	}
}

// People see what is to be done below what was found, and nothing that moves their cursor.
func TestFindingsOnATerminal(t *testing.T) {
	t.Parallel()
	findings := []doctor.Finding{
		{Check: "disk", State: doctor.OK, Found: "there is room"},
		{Check: "webhooks", State: doctor.Wrong, Found: "bad\x1b[2J\nhost", Do: "look"},
	}
	for _, test := range []struct {
		tty, json bool
		want      string
	}{
		{true, false, "\x1b[32mok      \x1b[0m disk: there is room\n\x1b[31mwrong   \x1b[0m webhooks: bad[2J host\n         → look\n"},
		{false, false, "ok\tdisk\tthere is room\t\nwrong\twebhooks\tbad[2J host\tlook\n"},
		{true, true, `[{"check":"disk","state":"ok","found":"there is room","do":""},{"check":"webhooks","state":"wrong","found":"bad\u001b[2J\nhost","do":"look"}]` + "\n"},
	} {
		var out strings.Builder
		err := printFindings(terminal.Terminal{Out: &out, OutIsTTY: test.tty, JSON: test.json}, findings)
		if err != nil || out.String() != test.want {
			t.Errorf("printed %q, %v", out.String(), err)
		}
	}
}
