package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

// The data are moved while no gateway works with them, and only into an empty database.
func TestMove(t *testing.T) {
	t.Parallel()
	data, media, url := t.TempDir(), t.TempDir(), postgres.Start(t)
	move := func(code int, says string, args ...string) string {
		t.Helper()
		got, out, said := run(t, "", append([]string{"move", "--to-database-url", url}, args...)...)
		if got != code || !strings.Contains(out+said, says) {
			t.Errorf("exit code %d, printed %q, said %q; want %d, %q", got, out, said, code, says)
		}
		return out
	}
	file := filepath.Join("media", "instance", "file")
	if err := os.MkdirAll(filepath.Join(data, filepath.Dir(file)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, file), []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	g := testkit.Start(t, testkit.Options{DataDir: data})
	move(1, "a gateway runs on this data", "--from-data", data)
	g.Stop()
	move(2, "--from-data", "--media", media)
	move(1, "there is no folder", "--from-data", data+"x")
	shared := t.TempDir()
	move(2, "--to-media-url must begin with", "--from-data", data, "--to-media-url", "ftp://x")
	move(2, "needs --to-media-url", "--from-data", data, "--from-media-url", "file://"+shared)
	move(2, "are for other places", "--from-data", data, "--to-media-url", "file://"+shared, "--media", media)
	move(1, "nothing is moved", "--from-data", data, "--to-media-url", "file://"+filepath.Join(shared, "missing"))
	if out := move(0, "start the gateway with --database-url", "--from-data", data, "--media", media); !strings.Contains(out, "api_keys\t2\n") {
		t.Errorf("printed %q", out)
	}
	if content, err := os.ReadFile(filepath.Join(media, file)); err != nil || string(content) != "content" {
		t.Errorf("the file is %q (%v)", content, err)
	}
	move(1, "moved already", "--from-data", data)
	if code, out, said := run(t, "", "keys", "list", "--account", "test", "--database-url", url); code != 0 || strings.Count(out, "\n") != 2 {
		t.Errorf("exit code %d, printed %q, said %q", code, out, said)
	}
}
