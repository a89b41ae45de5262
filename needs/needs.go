// Package needs says what tests need of a machine beside Go, and skips those that it has not.
// Only tests import it.
package needs

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// list is read by install.sh as well.
//
//go:embed needs.txt
var list string

// Need is something that tests need.
type Need struct {
	Name     string
	Programs []string // all of which have to be there
	LeftOut  string   // what is not tested without it
}

// All returns everything that tests need, in the order in which it is listed.
func All() []Need {
	var all []Need
	for line := range strings.Lines(list) {
		if column := strings.Split(strings.TrimSpace(line), "\t"); !strings.HasPrefix(line, "#") {
			all = append(all, Need{Name: column[0], Programs: strings.Fields(column[1]), LeftOut: column[3]})
		}
	}
	return all
}

// Missing returns the programs of a need that are not there.
func (n Need) Missing() []string {
	return slices.DeleteFunc(slices.Clone(n.Programs), func(program string) bool { return Find(program) != "" })
}

// Find returns the path of a program: one that install.sh has built, that is in PATH, or where
// Debian keeps PostgreSQL's newest; empty if there is none.
func Find(program string) string {
	if built := filepath.Join(root(), "bin", "needs", program); isFile(built) {
		return built
	}
	if path, err := exec.LookPath(program); err == nil {
		return path
	}
	debian, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + program) // the pattern is a good one
	slices.Sort(debian)
	for _, path := range slices.Backward(debian) {
		if isFile(path) {
			return path
		}
	}
	return ""
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// root is the folder of the repository, which is above that of every test.
func root() string {
	dir, err := os.Getwd()
	for err == nil && !isFile(filepath.Join(dir, "needs", "needs.txt")) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
	}
	return dir
}

// Require skips the test on a machine that has not what is listed with that program. The test fails
// instead where the environment variable CI is "true", unless CI_LEFT_OUT has the name of the
// need: CI says what it leaves out, and why.
func Require(tb testing.TB, program string) {
	tb.Helper()
	all := All()
	n := slices.IndexFunc(all, func(n Need) bool { return slices.Contains(n.Programs, program) })
	if n < 0 {
		tb.Fatalf("needs.txt has no %q", program)
	}
	missing := all[n].Missing()
	switch {
	case slices.Contains(strings.Fields(os.Getenv("CI_LEFT_OUT")), all[n].Name):
		tb.Skipf("%s is left out", all[n].Name)
	case len(missing) > 0 && os.Getenv("CI") == "true":
		tb.Fatalf("%s is not installed; needs/install.sh does that", strings.Join(missing, ", "))
	case len(missing) > 0:
		tb.Skipf("%s is not installed", strings.Join(missing, ", "))
	}
}
