package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// verdict is the result of planting a fault.
type verdict string

const (
	caught   verdict = "caught"
	survived verdict = "SURVIVED"
)

// moduleRoot returns the folder of the module that the program is started in.
func moduleRoot() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for folder := start; ; folder = filepath.Dir(folder) {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder, nil
		}
		if folder == filepath.Dir(folder) {
			return "", fmt.Errorf("%s is in no module", start)
		}
	}
}

// mutate returns the file with the fault in it.
func mutate(root string, f fault) ([]byte, error) {
	source, err := os.ReadFile(filepath.Join(root, f.file)) //nolint:gosec // a list of faults names it
	if err != nil {
		return nil, err
	}
	if n := bytes.Count(source, []byte(f.old)); n != 1 {
		return nil, fmt.Errorf("%s contains %[3]q %[2]d times instead of once: update the fault", f.file, n, f.old)
	}
	return bytes.Replace(source, []byte(f.old), []byte(f.new), 1), nil
}

// plant builds with the file that has the fault in it, and runs the tests.
func plant(ctx context.Context, root string, f fault) (_ verdict, err error) {
	mutant, err := mutate(root, f)
	if err != nil {
		return "", err
	}
	folder, err := os.MkdirTemp("", "recado-mutant-*")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	shown, overlay := filepath.Join(folder, "mutant.go"), filepath.Join(folder, "overlay.json")
	replaced, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, f.file): shown}})
	if err != nil {
		return "", err
	}
	if err := errors.Join(os.WriteFile(shown, mutant, 0o600), os.WriteFile(overlay, replaced, 0o600)); err != nil {
		return "", err
	}
	// Tests that build the program themselves get the fault too.
	env := append(os.Environ(), "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -overlay="+overlay))
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	test := exec.CommandContext(ctx, "go", "test", "-count=1", "-timeout", patience.String(), "-run", f.run, ".") //nolint:gosec // a list of faults names them
	// In their own folder, because they may be in another module of the repository.
	test.Dir, test.Env = filepath.Join(root, f.test), env
	out, err := test.CombinedOutput()
	var failed *exec.ExitError
	switch {
	case err != nil && !errors.As(err, &failed):
		return "", err
	case err == nil && bytes.Contains(out, []byte("no tests to run")):
		return "", fmt.Errorf("no test of %s is called %s", f.test, f.run)
	case err == nil:
		return survived, nil
	case bytes.Contains(out, []byte("[build failed]")), bytes.Contains(out, []byte("[setup failed]")):
		return "", fmt.Errorf("the tests do not compile with it:\n%s", out)
	}
	return caught, nil
}
