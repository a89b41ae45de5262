package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/s3"
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

// The files of a gateway that keeps them in a bucket are backed up and restored from there to
// where the next one has its own, or moved, and never forgotten.
func TestBackupOfABucket(t *testing.T) {
	t.Parallel()
	server, data, backups := s3.Start(t), t.TempDir(), t.TempDir()
	command := func(code int, says string, args ...string) {
		t.Helper()
		got, out, said := run(t, "", args...)
		if got != code || !strings.Contains(out+said, says) {
			t.Errorf("recado %s: exit code %d, printed %q, said %q; want %d, %q", args[0], got, out, said, code, says)
		}
	}
	g := testkit.Start(t, testkit.Options{DataDir: data, MediaURL: server.URL("before")})
	id := g.Link(t, "5511999990300")
	sent, err := g.Client.SendDocument(t.Context(), id, client.Document{To: "5511988887766", Document: client.DataURI("text/plain", []byte("content"))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Client.GetMediaDownloadLink(t.Context(), id, sent.MessageID); err != nil { // which fetches the file
		t.Fatal(err)
	}
	command(1, "name it here as well", "backup", backups, "--data", data)
	command(2, "--media-url must begin with", "backup", backups, "--data", data, "--media-url", "ftp://x")
	command(1, "Is it mounted?", "backup", backups, "--data", data, "--media-url", "file://"+filepath.Join(t.TempDir(), "missing"))
	command(0, " 2 files, made at", "backup", filepath.Join(backups, "with"), "--verify", "--data", data, "--media-url", server.URL("before"))
	command(0, " 0 files, without 1 files, made at", "backup", filepath.Join(backups, "without"), "--verify", "--data", data, "--media-url", server.URL("before"), "--without-files")
	again, third := filepath.Join(t.TempDir(), "again"), filepath.Join(t.TempDir(), "third")
	command(0, " 2 files", "restore", filepath.Join(backups, "with"), "--data", again)
	if found, err := filepath.Glob(filepath.Join(again, "media", id, "*")); err != nil || len(found) != 2 {
		t.Errorf("the folder has %q, %v", found, err)
	}
	command(0, "1 of the 1 files", "restore", filepath.Join(backups, "without"), "--data", third, "--media-url", server.URL("after"))
}
