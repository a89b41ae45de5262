package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/seal"
	"github.com/recado-project/recado/internal/server"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit"
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
	command(0, "", "keys list", "--master-key-file", first)
	command(0, "plain", "master-key status", "--master-key-file", first)
	begin(t, data, first)
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

// While a gateway runs, everything is sealed anew under the master key that it knows, and
// under no other; the gateway goes on.
func TestMasterKeyBesideAGateway(t *testing.T) {
	t.Parallel()
	folder, key, next := t.TempDir(), seal.NewKey(), seal.NewKey()
	g := testkit.Start(t, testkit.Options{DataDir: folder, MasterKey: key})
	id := g.Link(t, shopNumber)
	rotate := func(code int, says string, args ...string) {
		t.Helper()
		got, out, said := run(t, "", append([]string{"master-key", "rotate", "--data", folder}, args...)...)
		if got != code || !strings.Contains(out+said, says) {
			t.Errorf("%v: exit code %d, printed %q, said %q; want %d, %q", args, got, out, said, code, says)
		}
	}
	rotate(1, "a gateway runs", "--reseal", "--master-key", key.Text(), "--new-master-key", next.Text())
	rotate(0, "secrets anew", "--reseal", "--master-key", key.Text())
	rotate(0, "changed the master key", "--master-key", key.Text(), "--new-master-key", next.Text())
	rotate(1, "restart all gateways", "--reseal", "--master-key", next.Text())
	if _, err := g.Client.SendText(t.Context(), id, client.Text{To: "5511988887766", Message: "Oi"}); err != nil {
		t.Error(err)
	}
	g.Stop()
	g = testkit.Start(t, testkit.Options{DataDir: folder, MasterKey: next})
	g.AwaitStatus(t, id, gateway.StatusConnected)
	if _, err := g.Client.SendText(t.Context(), id, client.Text{To: "5511988887766", Message: "Oi"}); err != nil {
		t.Error(err)
	}
}

// begin opens the data as a gateway with a master key does, which begins to seal them.
func begin(t *testing.T, folder, file string) {
	t.Helper()
	config := server.StoreConfig(folder, "", testkit.Logger(t))
	var err error
	if config.Master, err = (seal.Source{File: file}).Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	opened, err := store.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	if err := opened.Close(); err != nil {
		t.Fatal(err)
	}
}
