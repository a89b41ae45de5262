package architecture_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// oddPhrases are turns of phrase that a reader has to read twice, and what a native engineer
// writes in their place.
func oddPhrases() map[string]string {
	return map[string]string{
		`that there (?:is|are) not\b`: "say what does not exist: \"if the label does not exist\"",
		`\bsaid again\b`:              "\"it is idempotent\"",
		`[a-z] no more\.`:             "\"no longer\", or the verb for it: \"unfollows\"",
		`\bWhoever\b`:                 "\"Anyone who\", or the noun: \"a client that\"",
		`\bfor whom is\b`:             "\"users who are\"",
		`\bof whom no(?:thing)?\b`:    "\"about whom nothing\", or \"without a known\"",
		`\bdesign note\b`:             "the page of docs/ that says it, or what it says",
		`\bwhom it concerns\b`:        "\"the people affected\"",
	}
}

// Comments, texts of the API and of the pages, and documents are in plain English.
func TestNoOddPhrases(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"client", "cmd", "docs", "e2e", "examples", "internal", "sdks", "tools", "."} {
		err := fs.WalkDir(os.DirFS(filepath.Join(root, folder)), ".", func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == "testdata" || folder == "." && path != "."):
				return fs.SkipDir
			case filepath.Ext(path) != ".go" && filepath.Ext(path) != ".md", path == "CHANGELOG.md", entry.Name() == "words_test.go":
				return nil
			}
			content := read(t, filepath.Join(folder, path))
			for phrase, better := range oddPhrases() {
				for _, at := range regexp.MustCompile(phrase).FindAllStringIndex(content, -1) {
					t.Errorf("%s:%d says %q: %s", filepath.Join(folder, path), 1+strings.Count(content[:at[0]], "\n"), content[at[0]:at[1]], better)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
