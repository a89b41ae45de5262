package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Each fault can be planted, and there are tests to notice it. If not, the code has changed,
// and the fault has to follow.
func TestFaultsCanBePlanted(t *testing.T) {
	t.Parallel()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	all, err := read(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Error("there are no faults")
	}
	names, tests := map[string]string{}, map[string][]string{}
	for _, f := range all {
		if _, err := mutate(root, f); err != nil {
			t.Errorf("%s: %v", f.at, err)
		}
		if f.old == f.new {
			t.Errorf("%s: it changes nothing", f.at)
		}
		if at, twice := names[f.name]; twice {
			t.Errorf("%s: the fault at %s has the same name", f.at, at)
		}
		names[f.name] = f.at
		if tests[f.test] == nil {
			tests[f.test] = testsIn(t, filepath.Join(root, f.test))
		}
		// Only a run knows of subtests, but the test that they are in has to be there.
		for alternative := range strings.SplitSeq(f.run, "|") {
			test, _, _ := strings.Cut(alternative, "/")
			if !slices.ContainsFunc(tests[f.test], regexp.MustCompile(test).MatchString) {
				t.Errorf("%s: no test of %s is called %s", f.at, f.test, test)
			}
		}
	}
}

// testsIn returns the names of the tests in a folder.
func testsIn(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, test := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`).FindAllSubmatch(source, -1) {
			names = append(names, string(test[1]))
		}
	}
	return names
}
