package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/movein"
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

// An instance goes out into a file and comes back into other data, where it connects by
// itself.
func TestExportAndImport(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	g := testkit.Start(t, testkit.Options{DataDir: data})
	g.Link(t, shopNumber)
	file := filepath.Join(t.TempDir(), "main.db")
	command := func(code int, says string, args ...string) string {
		t.Helper()
		got, out, said := run(t, "", append(args, "--data", data, "--account", "test")...)
		if got != code || !strings.Contains(said, says) {
			t.Fatalf("recado %s: exit code %d, said %q; want %d, %q", strings.Join(args, " "), got, said, code, says)
		}
		return out
	}
	command(1, "a gateway runs on this data", "export", "shop", file)
	command(1, "a gateway runs on this data", "import", "whatsmeow", file)
	g.Stop()
	command(1, "no instance nobody", "export", "nobody", file)
	command(2, "<file>", "export", "shop")
	command(2, "unexpected argument bailey,", "import", "bailey", file)
	command(1, "no such file", "import", "baileys", file)
	command(2, "--keys", "import", "evolution", "postgres://localhost/evolution")
	command(2, "can't be used together", "import", "evolution", "postgres://localhost/evolution", "--keys", data, "--redis", "redis://localhost")
	command(1, "open the other program's database", "import", "evolution", "postgres:///evolution?host=/nowhere", "--keys", data)
	if out := command(0, "is linked to the account", "export", "shop", file, "--forget"); !strings.HasPrefix(out, "exported ") {
		t.Errorf("printed %q", out)
	}

	out := command(0, "", "import", "whatsmeow", file, "--dry-run")
	if cells := strings.Split(strings.TrimSpace(out), "\t"); len(cells) != 5 || cells[0] != shopNumber || cells[4] != "would come" {
		t.Errorf("a dry run printed %q", out)
	}
	var results []movein.Result
	if err := json.Unmarshal([]byte(command(0, "", "import", "whatsmeow", file, "--json")), &results); err != nil {
		t.Fatal(err)
	}
	if len(results) != 1 || results[0].Number != shopNumber || results[0].InstanceID == "" {
		t.Fatalf("printed %+v", results)
	}
	if out := command(1, "1 of 1 devices did not come", "import", "whatsmeow", file); !strings.Contains(out, "it is here already, as the instance") {
		t.Errorf("a second import printed %q", out)
	}
	if out := command(0, "--forget makes it safe", "export", results[0].InstanceID, file+".again", "--json"); !strings.Contains(out, `"done":"exported"`) {
		t.Errorf("printed %q", out)
	}

	opened, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = opened.Close() }()
	if _, seen := os.Stat("/proc/self/fd"); seen == nil {
		command(1, "--source-is-stopped", "import", "whatsmeow", file)
	}

	g = testkit.Start(t, testkit.Options{DataDir: data})
	if err := g.Client.RestartInstance(t.Context(), results[0].InstanceID); err != nil { // it was exported
		t.Fatal(err)
	}
	g.AwaitStatus(t, results[0].InstanceID, gateway.StatusConnected)
}
