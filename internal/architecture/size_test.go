package architecture_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit/cases"
)

const (
	maxFiles = 40  // of a room, with its tests, without what is generated
	minLines = 200 // of a room that one other imports, without its tests
)

var generated = regexp.MustCompile(`^// Code generated .* DO NOT EDIT\.\n`)

// No room has so many files that a reader gets lost in it, and none is so small that it is only
// one more place to look: what belongs together by change stands together.
func TestRoomsHaveASensibleSize(t *testing.T) {
	t.Parallel()
	importers, all := map[string][]string{}, rooms(t)
	for path, r := range all {
		for _, other := range slices.Concat(r.Imports, r.TestImports, r.XTestImports) {
			if inner, ours := strings.CutPrefix(other, module); ours && inner != path && !slices.Contains(importers[inner], path) {
				importers[inner] = append(importers[inner], path)
			}
		}
	}
	for path, r := range cases.Sorted(all) {
		lines := 0
		for _, file := range r.GoFiles {
			if content := read(t, filepath.Join(path, file)); !generated.MatchString(content) {
				lines += strings.Count(content, "\n")
			}
		}
		if files := filesOf(t, path); files > maxFiles {
			t.Errorf("%s has %d files: which noun is hiding in it?", path, files)
		}
		if len(importers[path]) == 1 && lines < minLines {
			t.Errorf("%s has %d lines, and is imported by %s alone: let it go home", path, lines, importers[path][0])
		}
	}
}

// filesOf counts the Go files of a room that people write.
func filesOf(t *testing.T, path string) int {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), ".go") && !generated.MatchString(read(t, filepath.Join(path, entry.Name()))) {
			files++
		}
	}
	return files
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
