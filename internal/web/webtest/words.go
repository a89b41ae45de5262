// Package webtest is what the tests of pages share. Only tests import it.
package webtest

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/web"
)

var (
	// inTemplate finds the texts in a template: {{t "…"}} and {{plural n "…" "…"}}, also
	// within other actions.
	inTemplate = regexp.MustCompile(`\bt ("(?:[^"\\]|\\.)*"|` + "`[^`]*`" + `)`)
	plurals    = regexp.MustCompile(`\bplural [^"{}]* ("(?:[^"\\]|\\.)*") ("(?:[^"\\]|\\.)*")`)
	// inCode finds the texts in Go code: web.Word("…").
	inCode = regexp.MustCompile(`\bWord\(("(?:[^"\\]|\\.)*")\)`)
	// verbs finds the places of arguments.
	verbs = regexp.MustCompile(`%(?:\[\d+\])?[a-z]`)
)

// Words checks that a room's translations are whole: it is in all languages, every text of
// its templates and code has a translation, with the same places for arguments, and every
// translation is of a text that the room still has. The test runs in the room's folder.
func Words(t *testing.T) {
	t.Helper()
	used := texts(t)
	files, err := filepath.Glob("locale/*.json")
	if err != nil {
		t.Fatal(err)
	}
	if wanted := Languages(t, "locale"); !slices.Equal(files, wanted) {
		t.Errorf("the room is in %v, and the pages in %v", files, wanted)
	}
	for _, file := range files {
		content, err := os.ReadFile(file) //nolint:gosec // a file of the room
		if err != nil {
			t.Fatal(err)
		}
		var translated map[string]string
		if err := json.Unmarshal(content, &translated); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for text, where := range used {
			to, ok := translated[text]
			switch {
			case !ok || to == "":
				t.Errorf("%s does not translate %q (%s)", file, text, where)
			case len(verbs.FindAllString(text, -1)) != len(verbs.FindAllString(to, -1)):
				t.Errorf("%s: %q and %q have different places for arguments", file, text, to)
			}
		}
		for text := range cases.Sorted(translated) {
			if used[text] == "" {
				t.Errorf("%s translates %q, which the room does not have", file, text)
			}
		}
	}
}

// Languages returns the files that a folder has, one for each language but English: those that
// the words of all pages are in.
func Languages(t *testing.T, folder string) (files []string) {
	t.Helper()
	words, err := web.ReadWords()
	if err != nil {
		t.Fatal(err)
	}
	for _, lang := range words.Languages() {
		if lang != web.English {
			files = append(files, folder+"/"+lang+".json")
		}
	}
	if len(files) == 0 {
		t.Fatal("there are no translations")
	}
	return files
}

// texts returns the texts of the room in this folder, with the file that each is in.
func texts(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			if err == nil && path != "." {
				return fs.SkipDir
			}
			return err
		}
		content, err := os.ReadFile(path) //nolint:gosec // a file of the room
		if err != nil {
			return err
		}
		for _, text := range textsIn(t, path, content) {
			found[text] = path
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// textsIn returns the texts in a file of the room.
func textsIn(t *testing.T, path string, content []byte) (found []string) {
	t.Helper()
	var expressions []*regexp.Regexp
	switch {
	case strings.HasSuffix(path, ".html"):
		expressions = []*regexp.Regexp{inTemplate, plurals}
	case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
		expressions = []*regexp.Regexp{inCode}
	}
	for _, expression := range expressions {
		for _, match := range expression.FindAllSubmatch(content, -1) {
			for _, quoted := range match[1:] {
				text, err := strconv.Unquote(string(quoted))
				if err != nil {
					t.Fatalf("%s: %s: %v", path, quoted, err)
				}
				found = append(found, text)
			}
		}
	}
	return found
}
