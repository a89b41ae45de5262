package data_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A master key is made, used, changed and given up, and without it the data are refused with
// a word on what to do.
func TestMasterKey(t *testing.T) {
	t.Parallel()
	folder, data := t.TempDir(), t.TempDir()
	newKey := func(name string) string {
		t.Helper()
		code, out, said := run(t, "", "master-key", "new")
		file := filepath.Join(folder, name)
		if code != 0 || !strings.Contains(said, "keep it safe") || os.WriteFile(file, []byte(out), 0o600) != nil {
			t.Fatalf("exit code %d, printed %q, said %q", code, out, said)
		}
		return file
	}
	first, second := newKey("first"), newKey("second")
	command := func(code int, says, line string, args ...string) {
		t.Helper()
		got, out, said := run(t, "", append(append(strings.Fields(line), "--data", data), args...)...)
		if got != code || !strings.Contains(out+said, says) {
			t.Errorf("recado %s: exit code %d, printed %q, said %q; want %d, %q", line, got, out, said, code, says)
		}
	}
	command(1, "there is no gateway data", "master-key status")
	command(0, "rcd_", "keys create --name a")
	command(0, "plain", "master-key status")
	command(1, "not sealed", "master-key rotate --reseal", "--master-key-file", first)
	command(1, "not sealed", "master-key remove", "--master-key-file", first)
	command(1, "no such file", "keys list", "--master-key-file", first+"x")
	command(1, "more than one way", "keys list", "--master-key-file", first, "--master-key-command", "cat "+first)
	command(0, "", "keys list", "--master-key-file", first) // seals from now on
	command(1, "give the one that they were sealed with, by --master-key-file", "keys list")
	command(1, "this is not the master key of this database", "keys list", "--master-key-file", second)
	command(0, "being sealed with data key 1", "master-key status", "--master-key-command", "cat "+first)
	command(2, "nothing is to be changed", "master-key rotate", "--master-key-file", first)
	command(0, "changed the master key", "master-key rotate", "--master-key-file", first, "--new-master-key-file", second)
	command(1, "this is not the master key of this database", "keys list", "--master-key-file", first)
	command(0, "sealed 0 secrets anew", "master-key rotate --reseal", "--master-key-file", second)
	command(0, `"generation":2,"complete":true`, "master-key status --json", "--master-key-file", second)
	command(0, "made 0 secrets plain", "master-key remove", "--master-key-file", second)
	command(0, "a", "keys list")
}
