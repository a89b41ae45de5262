package architecture_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// root is the repository's.
const root = "../.."

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// Every folder and file that the pages for contributors name is there, and every
// room is named in ARCHITECTURE.md.
func TestPagesNameWhatIsThere(t *testing.T) {
	t.Parallel()
	paths := regexp.MustCompile(`\b(?:cmd|internal|e2e|client|docs|tools)/[a-zA-Z0-9_/.-]*`)
	for _, page := range []string{"ARCHITECTURE.md", "CONTRIBUTING.md"} {
		for _, path := range paths.FindAllString(read(t, page), -1) {
			if _, err := os.Stat(filepath.Join(root, strings.TrimRight(path, "./"))); err != nil {
				t.Errorf("%s names %s: %v", page, path, err)
			}
		}
	}
	document := read(t, "ARCHITECTURE.md")
	for _, folder := range []string{"internal", "e2e"} {
		entries, err := os.ReadDir(filepath.Join(root, folder))
		if err != nil {
			t.Fatal(err)
		}
		for _, room := range entries {
			if room.IsDir() && !strings.Contains(document, "\n"+room.Name()+"/ ") {
				t.Errorf("ARCHITECTURE.md has no line of %s/%s", folder, room.Name())
			}
		}
	}
}

// Somebody reads ARCHITECTURE.md in ten minutes.
func TestArchitectureIsShort(t *testing.T) {
	t.Parallel()
	const most, widest = 10_000, 120
	document := read(t, "ARCHITECTURE.md")
	if len(document) > most {
		t.Errorf("ARCHITECTURE.md has %d bytes, and may have %d", len(document), most)
	}
	for line := range strings.Lines(document) {
		if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > widest {
			t.Errorf("a line is wider than %d columns: %s", widest, line)
		}
	}
}

// The README's first commands are the ones that work.
func TestReadmeOpensWithTheTwoCommands(t *testing.T) {
	t.Parallel()
	head, _, _ := strings.Cut(read(t, "README.md"), "\n## ")
	for _, command := range []string{"\ngo run ./cmd/recado dev", "\ngo test ./..."} {
		if !strings.Contains(head, command) {
			t.Errorf("the README does not open with%q", command)
		}
	}
}
