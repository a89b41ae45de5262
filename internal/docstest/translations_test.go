package docstest_test

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// part is a heading of a page with what stands below it, apart from the words, which each language has of its own.
type part struct {
	title string
	line  int
	looks map[string]string // what a translation has as well
}

var (
	linked = regexp.MustCompile(`\]\(([^)#]*)[^)]*\)`)
	span   = regexp.MustCompile("`[^`]+`")
	// language is the folder of a language, or its part in the name of a file.
	language = regexp.MustCompile(`(^|[/.])[a-z]{2}(-[A-Z]{2})?([/.])`)
)

// partsOf divides a page at its headings.
func partsOf(file, page string) (parts []part) {
	var code string
	for i, line := range strings.Split(page, "\n") {
		fence, word := strings.HasPrefix(strings.TrimSpace(line), "```"), strings.TrimLeft(line, "#")
		inside := code != ""
		switch {
		case fence || inside:
			code += line + "\n"
		case line != word && strings.HasPrefix(word, " "):
			parts = append(parts, part{title: strings.TrimSpace(word), line: i + 1, looks: map[string]string{"level": line[:len(line)-len(word)]}})
			continue
		}
		if len(parts) == 0 {
			continue
		}
		looks := parts[len(parts)-1].looks
		switch {
		case fence && inside:
			looks["code"] += code
			code = ""
		case fence || inside:
		case strings.HasPrefix(line, "|"):
			looks["rows of tables"] += fmt.Sprintf("%d ", strings.Count(line, "|"))
		}
		if !fence && !inside {
			for _, to := range linked.FindAllStringSubmatch(line, -1) {
				looks["links"] = add(looks["links"], target(file, to[1]))
			}
			for _, words := range span.FindAllString(line, -1) {
				looks["words of the program"] = add(looks["words of the program"], words)
			}
		}
	}
	return parts
}

// add adds a text to a sorted list of different ones: another language has another order.
func add(list, text string) string {
	texts := append(strings.Split(list, "\n"), text)
	slices.Sort(texts)
	return strings.Join(slices.Compact(texts), "\n")
}

// target is where a link of a file leads, whichever language is there.
func target(file, to string) string {
	if to == "" || strings.Contains(to, ":") {
		return to
	}
	return language.ReplaceAllString(path.Join(path.Dir(file), to), "$1")
}

// translationsOf returns the translations of a page.
func translationsOf(t *testing.T, name string) []string {
	t.Helper()
	files, err := filepath.Glob("docs/*-*/" + name)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no translation: %v", name, err)
	}
	return files
}

// Who changes an English page is told that its translations have to follow.
func TestTranslationsFollow(t *testing.T) {
	t.Parallel()
	for _, file := range append(translationsOf(t, "*.md"), translationsOf(t, "recipes/*.md")...) {
		original := language.ReplaceAllString(file, "$1")
		english, translated := partsOf(original, readFile(t, original)), partsOf(file, readFile(t, file))
		if len(english) != len(translated) {
			t.Errorf("%s has %d headings, and %s %d", original, len(english), file, len(translated))
			continue
		}
		for i, want := range english {
			for _, what := range []string{"level", "code", "rows of tables", "links", "words of the program"} {
				if got, in := difference(translated[i].looks[what], want.looks[what]); got != in {
					t.Errorf("%s:%d (%s) does not follow %s:%d (%s), %s: %q instead of %q",
						file, translated[i].line, translated[i].title, original, want.line, want.title, what, got, in)
				}
			}
		}
	}
}

// difference returns the first lines in which two texts differ.
func difference(got, want string) (gotLine, wantLine string) {
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(gotLines), len(wantLines)) {
		gotLine, wantLine = "", ""
		if i < len(gotLines) {
			gotLine = gotLines[i]
		}
		if i < len(wantLines) {
			wantLine = wantLines[i]
		}
		if gotLine != wantLine {
			break
		}
	}
	return gotLine, wantLine
}

// withCode returns a translation of a page with the blocks of code of the page.
func withCode(translation, page string) string {
	blocks, theirs := blocksOf(page), blocksOf(translation)
	if len(blocks) != len(theirs) {
		return translation // a test says where
	}
	var text strings.Builder
	at := 0
	for i, b := range theirs {
		text.WriteString(translation[at:b.start] + blocks[i].text)
		at = b.end
	}
	return text.String() + translation[at:]
}
