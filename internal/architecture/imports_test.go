package architecture_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/recado-project/recado/"

// room is a package as the go command lists it.
type room struct {
	ImportPath string   `json:"ImportPath"` //nolint:tagliatelle // the go command's own names
	Imports    []string `json:"Imports"`    //nolint:tagliatelle // without those of its tests
	GoFiles    []string `json:"GoFiles"`    //nolint:tagliatelle // as above
}

// rooms returns every package of the two modules that is more than tests, by its path
// from the root.
func rooms(t *testing.T) map[string]room {
	t.Helper()
	found := map[string]room{}
	for _, folder := range []string{".", "e2e"} {
		command := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports,GoFiles", "./...")
		command.Dir = filepath.Join(root, folder)
		output, err := command.Output()
		if err != nil {
			t.Fatal(err)
		}
		for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
			var r room
			if err := decoder.Decode(&r); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if len(r.GoFiles) > 0 {
				found[strings.TrimPrefix(r.ImportPath, module)] = r
			}
		}
	}
	return found
}

// listed reads a list of ARCHITECTURE.md: the lines of the code block that follows
// a heading, each of them a name, an arrow and words.
func listed(t *testing.T, heading string) map[string][]string {
	t.Helper()
	_, section, ok := strings.Cut(read(t, "ARCHITECTURE.md"), "\n### "+heading+"\n")
	if !ok {
		t.Fatalf("ARCHITECTURE.md has no section %q", heading)
	}
	block := regexp.MustCompile("(?s)```\n(.*?)```").FindStringSubmatch(section)
	if block == nil {
		t.Fatalf("the section %q has no list", heading)
	}
	list := map[string][]string{}
	lines := bufio.NewScanner(strings.NewReader(block[1]))
	for lines.Scan() {
		name, words, ok := strings.Cut(lines.Text(), "→")
		if !ok {
			t.Fatalf("%q is no line of the list %q", lines.Text(), heading)
		}
		name = strings.TrimSpace(name)
		if _, twice := list[name]; twice {
			t.Fatalf("%q is twice in the list %q", name, heading)
		}
		list[name] = strings.Fields(words)
	}
	return list
}

// Every room imports the rooms that ARCHITECTURE.md lists for it, and no other. An
// import that is not listed fails, and so does a line that is not true any more.
func TestRoomsImportWhatIsListed(t *testing.T) {
	t.Parallel()
	list, found := listed(t, "Who imports whom"), rooms(t)
	for path, r := range found {
		name := strings.TrimPrefix(path, "internal/")
		allowed := list[name]
		var imported []string
		for _, other := range r.Imports {
			if inner, ok := strings.CutPrefix(other, module); ok {
				imported = append(imported, strings.TrimPrefix(inner, "internal/"))
			}
		}
		for _, other := range imported {
			if !slices.Contains(allowed, other) {
				t.Errorf("%s imports %s, which ARCHITECTURE.md does not list", name, other)
			}
		}
		for _, other := range allowed {
			if !slices.Contains(imported, other) {
				t.Errorf("ARCHITECTURE.md lists that %s imports %s, which it does not", name, other)
			}
		}
	}
	for name := range list {
		_, inside := found["internal/"+name]
		if _, outside := found[name]; !inside && !outside {
			t.Errorf("ARCHITECTURE.md lists imports of %s, which is no room", name)
		}
	}
}

// A technology is imported by the rooms that ARCHITECTURE.md lists for it, and by
// no other.
func TestTechnologiesHaveTheirRooms(t *testing.T) {
	t.Parallel()
	list := listed(t, "Which technology is where")
	used := map[string][]string{}
	for path, r := range rooms(t) {
		name := strings.TrimPrefix(path, "internal/")
		for technology, allowed := range list {
			if !slices.ContainsFunc(r.Imports, func(other string) bool {
				return other == technology || strings.HasPrefix(other, technology+"/")
			}) {
				continue
			}
			used[technology] = append(used[technology], name)
			if !slices.ContainsFunc(allowed, func(where string) bool { return inside(name, where) }) {
				t.Errorf("%s imports %s, which is for %s", name, technology, strings.Join(allowed, ", "))
			}
		}
	}
	for technology, allowed := range list {
		for _, where := range allowed {
			if !slices.ContainsFunc(used[technology], func(name string) bool { return inside(name, where) }) {
				t.Errorf("ARCHITECTURE.md lists %s for %s, which does not import it", technology, where)
			}
		}
	}
}

// inside reports whether a room is the one that a list names: with /... at its end
// that means the rooms inside as well.
func inside(name, where string) bool {
	whole, deep := strings.CutSuffix(where, "/...")
	return name == whole || deep && strings.HasPrefix(name, whole+"/")
}
