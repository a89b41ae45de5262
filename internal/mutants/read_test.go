package main

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestRead(t *testing.T) {
	t.Parallel()
	got, err := read(fstest.MapFS{
		"a/b/testdata/faults.txt": {Data: []byte("a name\nfile: c.go\ntest: ./d/e One|Two/three\n-\told\n+\tnew\n\n" +
			"another\nfile: f/1.sql\ntest: TestG$\n--1\n-\n-2\n")},
		"testdata/faults.txt":              {Data: []byte("n\nfile: h.go\ntest: T\n-o\n-\n+\n+n")},
		"a/faults.txt":                     {Data: []byte("?")},
		"node_modules/testdata/faults.txt": {Data: []byte("?")},
	})
	if want := []fault{
		{name: "a name", file: "a/b/c.go", test: "d/e", run: "One|Two/three", old: "\told", new: "\tnew", at: "a/b/testdata/faults.txt:1"},
		{name: "another", file: "a/b/f/1.sql", test: "a/b", run: "TestG$", old: "-1\n\n2", at: "a/b/testdata/faults.txt:7"},
		{name: "n", file: "h.go", test: ".", run: "T", old: "o\n", new: "\nn", at: "testdata/faults.txt:1"},
	}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, read\n%+v\nwant\n%+v", err, got, want)
	}
}

// A fault in which something is missing or at the wrong place is reported with its line.
func TestReadMistakes(t *testing.T) {
	t.Parallel()
	const good = "name\nfile: f.go\ntest: T\n-old\n+new\n"
	for _, bad := range []string{
		"", "\n", "name", "file: f.go\ntest: T\n-old\n", "name\ntest: T\n-old\n", "name\nfile: f.go\n-old\n",
		"name\nfile: f.go\ntest: T\n", "name\nfile: f.go\ntest: T\n+new\n", "name\nfile:f.go\ntest: T\n-old\n",
		"name\nfile: f.go\ntest: ./a b c\n-old\n", "name\nfile: f.go\ntest: T\n+new\n-old\n", good + "-old\n", good + good,
	} {
		_, err := read(fstest.MapFS{"a/testdata/faults.txt": {Data: []byte(good + "\n" + good + "\n" + bad + "\n")}})
		if err == nil || !strings.HasPrefix(err.Error(), "a/testdata/faults.txt:13: ") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
