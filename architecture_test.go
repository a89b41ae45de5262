package recado_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every folder and file that ARCHITECTURE.md names is there, and every room is
// named in it.
func TestArchitectureDocumentIsCurrent(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	document := string(content)
	for _, path := range regexp.MustCompile(`(?:cmd|internal|client|docs|tools)/[a-z0-9_/.]*`).FindAllString(document, -1) {
		if _, err := os.Stat(strings.TrimRight(path, "./")); err != nil {
			t.Errorf("ARCHITECTURE.md names %s: %v", path, err)
		}
	}
	rooms, err := filepath.Glob("internal/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, room := range rooms {
		if !strings.Contains(document, room+"/ ") {
			t.Errorf("ARCHITECTURE.md does not name %s", room)
		}
	}
}

// The README's first commands are the ones that work.
func TestReadmeOpensWithTheTwoCommands(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(content), "\n## ")
	for _, command := range []string{"\ngo run ./cmd/recado dev", "\ngo test ./..."} {
		if !strings.Contains(head, command) {
			t.Errorf("the README does not open with%q", command)
		}
	}
}
