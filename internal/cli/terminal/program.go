// Commands in what the program says: they work when they are pasted into a shell.

package terminal

import (
	"os"
	"regexp"
	"strings"
)

// Program is how a shell calls this program: recado, or the go run that has built and started it.
func Program() string {
	executable, err := os.Executable()
	if err != nil {
		return called("")
	}
	return called(executable)
}

// builtToRun matches the executables of go run: in a folder for the time of the run, and in the cache of builds.
var builtToRun = regexp.MustCompile(`[/\\](?:go-build[0-9]+[/\\].*|[0-9a-f]{64}-d)[/\\]recado(?:\.exe)?$`)

func called(executable string) string {
	if builtToRun.MatchString(executable) {
		return "go run ./cmd/recado"
	}
	return "recado"
}

// plain matches words that a shell takes as they are.
var plain = regexp.MustCompile(`^[A-Za-z0-9_./:@%+,=…-]+$`)

// Quoted is a word as a shell has to be given it.
func Quoted(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
