package data_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit"
)

// A backup is made beside a gateway that works, checked, and restored where nothing is.
func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	data, backups, again := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "again")
	command := func(code int, says string, args ...string) string {
		t.Helper()
		got, out, said := run(t, "", args...)
		if got != code || !strings.Contains(out+said, says) {
			t.Errorf("recado %s: exit code %d, printed %q, said %q; want %d, %q", args[0], got, out, said, code, says)
		}
		return out
	}
	command(1, "there is no gateway data", "backup", backups, "--data", data)
	testkit.Start(t, testkit.Options{DataDir: data})
	command(0, "0 files, made at 20", "backup", backups, "--verify", "--data", data)
	made, err := filepath.Glob(filepath.Join(backups, "recado-*Z.tar.gz"))
	if err != nil || len(made) != 1 {
		t.Fatalf("made %v (%v)", made, err)
	}
	if info, err := os.Stat(made[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read the backup: %v (%v)", info, err)
	}
	command(1, "exists already", "backup", made[0], "--data", data)
	command(0, `"file":`, "restore", made[0], "--verify", "--json")
	command(1, "a gateway runs on this data", "restore", made[0], "--data", data)
	command(0, "conversations begin anew", "restore", made[0], "--data", again)
	command(1, "name an empty one", "restore", made[0], "--data", again)
	if out := command(0, "", "keys", "list", "--data", again, "--account", "test"); strings.Count(out, "\n") != 2 {
		t.Errorf("the keys are %q", out)
	}
	content, err := os.ReadFile(made[0])
	if err != nil || os.WriteFile(made[0], content[:len(content)/2], 0o600) != nil {
		t.Fatal(err)
	}
	command(1, "not a whole backup", "restore", made[0], "--data", again+"2")
}
