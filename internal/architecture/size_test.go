package architecture_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const (
	maxFiles = 25    // of a room, without tests and what is generated
	maxLines = 3_500 // of a room, without tests and what is generated

	// The Go client has a method for every operation of the API. Its users want one
	// package to import, so it can't be divided as other rooms are.
	maxClientLines = 4_000
)

var generated = regexp.MustCompile(`^// Code generated .* DO NOT EDIT\.\n`)

// No room grows so big that a reader gets lost in it.
func TestRoomsAreSmall(t *testing.T) {
	t.Parallel()
	for path, r := range rooms(t) {
		files, lines := 0, 0
		for _, file := range r.GoFiles {
			content, err := os.ReadFile(filepath.Join(root, path, file))
			if err != nil {
				t.Fatal(err)
			}
			if generated.Match(content) {
				continue
			}
			files++
			// A room such as storetest is the tests of another.
			if !strings.HasSuffix(path, "test") {
				lines += bytes.Count(content, []byte("\n"))
			}
		}
		most := maxLines
		if path == "client" {
			most = maxClientLines
		}
		if files > maxFiles || lines > most {
			t.Errorf("%s has %d files and %d lines: which noun is hiding in it?", path, files, lines)
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
