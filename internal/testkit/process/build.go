// Builds of the programs that tests start.

package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// Program returns the path of the program, which is built as the tests are: with the race
// detector, if they have it.
func Program(tb testing.TB) string {
	tb.Helper()
	path, err := Recado()
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

// Plain is Program without the race detector, whatever the tests have: for what is counted of it.
func Plain(tb testing.TB) string {
	tb.Helper()
	path, err := recado(false)
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

// Recado is Program for what has no test around it, such as an example.
func Recado() (path string, err error) { return recado(race) }

func recado(race bool) (path string, err error) {
	root, err := Repository()
	if err != nil {
		return "", err
	}
	return built(source{filepath.Join(root, "cmd", "recado"), race})
}

// Build is Program for the program in another folder.
func Build(tb testing.TB, folder string) string {
	tb.Helper()
	path, err := built(source{folder, race})
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

// Repository returns the folder of the repository, from whichever of its modules the tests are.
func Repository() (folder string, err error) { return repository() }

//nolint:gochecknoglobals // one answer for all tests of a package
var repository = sync.OnceValues(func() (string, error) {
	return run(exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/recado-project/recado"))
})

//nolint:gochecknoglobals // each is built once, whichever test asks first
var programs sync.Map

// source is a program that is built: its folder, and whether it has the race detector.
type source struct {
	folder string
	race   bool
}

// built returns the program of a source, which is built the first time.
func built(from source) (path string, err error) {
	once, _ := programs.LoadOrStore(from, sync.OnceValues(func() (string, error) { return build(from) }))
	return once.(func() (string, error))()
}

// build builds a program into Go's cache, where the tests of the other packages find it, and
// returns its path.
func build(from source) (path string, err error) {
	arguments := []string{"run"}
	if from.race {
		root, err := Repository()
		if err != nil {
			return "", err
		}
		flags, err := os.ReadFile(filepath.Join(root, ".ci", "race")) //nolint:gosec // a file of the repository
		if err != nil {
			return "", err
		}
		for line := range strings.Lines(string(flags)) {
			if strings.HasPrefix(line, "-") {
				arguments = append(arguments, strings.TrimSpace(line))
			}
		}
	}
	// Instead of the program, go run starts one that prints the path.
	echo := "echo"
	if runtime.GOOS == "windows" {
		echo = "cmd /c echo"
	}
	arguments = append(arguments, "-exec", echo, ".")
	// The first time it runs what it has just built, which it then moves into the cache.
	for range 2 {
		command := exec.Command("go", arguments...) //nolint:noctx // the time limit of the tests bounds it
		command.Dir = from.folder
		if path, err = run(command); err != nil {
			// In the words of go test: internal/mutants takes it for no test that fails.
			return "", fmt.Errorf("the program in %s: [build failed] %w", from.folder, err)
		}
	}
	return path, nil
}

// run returns what a command prints.
func run(command *exec.Cmd) (printed string, err error) {
	var said bytes.Buffer
	command.Stderr = &said
	output, err := command.Output()
	if err != nil {
		return "", errors.Join(err, errors.New(said.String()))
	}
	return strings.TrimSpace(string(output)), nil
}
