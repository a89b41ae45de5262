package terminal

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit/cases"
)

// Who has started the program by go run is given commands that begin with it.
func TestProgram(t *testing.T) {
	t.Parallel()
	hash := strings.Repeat("0af9", 16)
	for executable, want := range cases.Sorted(map[string]string{
		"/usr/local/bin/recado":      "recado",
		"/home/ana/recado/recado":    "recado",
		"/home/ana/go-builds/recado": "recado",
		"":                           "recado",
		"/tmp/go-build1335355377/b001/exe/recado":          "go run ./cmd/recado",
		"/root/.cache/go-build/0a/" + hash + "-d/recado":   "go run ./cmd/recado",
		"/somewhere/else/0a/" + hash + "-d/recado":         "go run ./cmd/recado",
		`C:\Temp\go-build13\b001\exe\recado.exe`:           "go run ./cmd/recado",
		"/tmp/go-build1335355377/b001/cli.test":            "recado",
		"/root/.cache/go-build/0a/" + hash + "-d/elsewhat": "recado",
	}) {
		if got := called(executable); got != want {
			t.Errorf("%s: %s, want %s", executable, got, want)
		}
	}
}

// A shell gives a program the very word that was quoted.
func TestQuoted(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"owner", "/var/lib/recado", "two words", "", "it's", "$(reboot)", "a;b", "`id`", `a\b`, "é", "#x", "~"} {
		output, err := exec.CommandContext(t.Context(), "sh", "-c", "printf %s "+Quoted(word)).Output()
		if err != nil || string(output) != word {
			t.Errorf("%s: the shell has made %q of %s (%v)", word, output, Quoted(word), err)
		}
	}
	if got := Quoted("/var/lib/recado"); got != "/var/lib/recado" {
		t.Errorf("a plain word is %s", got)
	}
}
