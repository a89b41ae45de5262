package architecture_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

const maxFiles = 40 // of a room, without tests and what is generated

var generated = regexp.MustCompile(`^// Code generated .* DO NOT EDIT\.\n`)

// No room has so many files that a reader gets lost in it.
func TestRoomsAreSmall(t *testing.T) {
	t.Parallel()
	for path, r := range rooms(t) {
		files := 0
		for _, file := range r.GoFiles {
			content, err := os.ReadFile(filepath.Join(root, path, file))
			if err != nil {
				t.Fatal(err)
			}
			if !generated.Match(content) {
				files++
			}
		}
		if files > maxFiles {
			t.Errorf("%s has %d files: which noun is hiding in it?", path, files)
		}
	}
}

// Files are named in one style: snake_case.
func TestFileNames(t *testing.T) {
	t.Parallel()
	style := regexp.MustCompile(`^[a-z0-9]+(_[a-z0-9]+)*\.go$`)
	for path, r := range rooms(t) {
		for _, file := range r.GoFiles {
			if !style.MatchString(file) {
				t.Errorf("%s/%s is not snake_case", path, file)
			}
			if plural := file[:len(file)-len(".go")] + "s.go"; exists(filepath.Join(root, path, plural)) {
				t.Errorf("%s has both %s and %s", path, file, plural)
			}
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
