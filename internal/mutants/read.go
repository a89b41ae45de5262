package main

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// fault is a mistake that could be made, and the tests that should notice it. It is written
// down like this, with a blank line before the next:
//
//	a message that was sent does not fail
//	file: send.go
//	test: ./internal/server AcknowledgedMessageDoesNotFail
//	-		if m.Status != gateway.MessagePending {
//	+		if false {
//
// Without a package, the tests are those of the room. The texts may have several lines and
// be parts of lines, and the new one may be missing.
type fault struct {
	name string // what the program does without the fault
	file string // from the folder of the module; it is written down from that of the room
	old  string // occurs in the file once
	new  string
	test string // folder of the tests, from that of the module
	run  string // go test -run
	at   string // where it is written down: file and line
}

// faultsFile is where a room has the faults of its files.
const faultsFile = "testdata/faults.txt"

// read returns all faults of a module.
func read(module fs.FS) ([]fault, error) {
	var all []fault
	err := fs.WalkDir(module, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{".git", "bin", "node_modules"}, entry.Name()):
			return fs.SkipDir
		case !strings.HasSuffix("/"+name, "/"+faultsFile):
			return nil
		}
		text, err := fs.ReadFile(module, name)
		if err != nil {
			return err
		}
		faults, err := parse(name, string(text))
		all = append(all, faults...)
		return err
	})
	return all, err
}

// parse reads the faults of one file.
func parse(file, text string) ([]fault, error) {
	shape := regexp.MustCompile(`^(.+)\nfile: (\S+)\ntest: (?:(\S+) )?(\S+)\n((?:-.*\n)+)((?:\+.*\n)*)$`)
	room := path.Dir(path.Dir(file))
	var faults []fault
	line := 1
	for written := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n\n") {
		at := fmt.Sprintf("%s:%d", file, line)
		found := shape.FindStringSubmatch(written + "\n")
		if found == nil {
			return nil, fmt.Errorf("%s: a fault is a name, file:, test:, lines with -, lines with +, and one blank line before the next", at)
		}
		f := fault{name: found[1], file: path.Join(room, found[2]), test: room, run: found[4], at: at}
		if found[3] != "" {
			f.test = path.Clean(found[3])
		}
		f.old, f.new = unmarked(found[5], "-"), unmarked(found[6], "+")
		faults = append(faults, f)
		line += strings.Count(written, "\n") + len("\n\n")
	}
	return faults, nil
}

// unmarked returns the text of lines that begin with a mark. It does not end with a newline,
// unless the last line has nothing but the mark.
func unmarked(lines, mark string) string {
	text := strings.ReplaceAll("\n"+lines, "\n"+mark, "\n")
	return strings.TrimPrefix(strings.TrimSuffix(text, "\n"), "\n")
}
