package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/demo"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/seal"
	"github.com/recado-project/recado/internal/server"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit"
)

// Listing creates nothing, and a mistyped folder is reported.
func TestKeysOfAMistypedFolder(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "recado-dve")
	for _, args := range [][]string{
		{"list"}, {"revoke", "019aa1f4-5b0c-7e43-9d1f-6a1f2f6f3b11"}, {"create", "--name", "a", "--instance", instanceID},
	} {
		code, out, said := run(t, "", append(append([]string{"keys"}, args...), "--data", folder)...)
		if code != 1 || out != "" || !strings.Contains(said, folder) || !strings.Contains(said, "--data") {
			t.Errorf("%v: exit code %d, printed %q, said %q", args, code, out, said)
		}
		if _, err := os.Stat(folder); err == nil {
			t.Fatalf("%v has made the folder", args)
		}
	}
	code, out, said := run(t, "", "keys", "create", "--data", folder, "--name", "a")
	if code != 0 || !strings.HasPrefix(out, "rcd_") || !strings.Contains(said, "created a new data folder "+folder) || !strings.Contains(said, "account default") {
		t.Errorf("exit code %d, printed %q, said %q", code, out, said)
	}
	if _, _, said = run(t, "", "keys", "create", "--data", folder, "--name", "b"); strings.Contains(said, "made a new") {
		t.Errorf("the second time it said %q", said)
	}
	if code, _, said = run(t, "", "keys", "list", "--data", folder, "--account", "shpo"); code != 1 || !strings.Contains(said, "there is no account shpo") {
		t.Errorf("exit code %d, said %q", code, said)
	}
	if code, _, said = run(t, "", "keys", "revoke", instanceID, "--data", folder); code != 1 || strings.Count(said, "recado: ") != 1 || !strings.HasPrefix(said, "recado: ") {
		t.Errorf("exit code %d, said %q", code, said)
	}
	if code, out, _ = run(t, "", "keys", "list", "--data", folder, "--json"); code != 0 || !strings.Contains(out, `"name":"b"`) {
		t.Errorf("exit code %d, printed %q", code, out)
	}
}

// A key ends at its time, and its scope can have only existing instances.
func TestKeysCreate(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	g := testkit.Start(t, testkit.Options{DataDir: folder})
	mine, err := g.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	create := func(args ...string) (int, string, string) {
		return run(t, "", append([]string{"keys", "create", "--data", folder, "--account", "test", "--name", "a", "--json"}, args...)...)
	}
	for _, args := range [][]string{{"--instance", "zzz"}, {"--instance", instanceID}, {"--account", "other", "--instance", mine.InstanceID}} {
		if code, out, said := create(args...); code != 1 || out != "" || !strings.Contains(said, "has no instance") {
			t.Errorf("%v: exit code %d, printed %q, said %q", args, code, out, said)
		}
	}
	if code, out, said := create("--instance", "shop"); code != 0 || !strings.Contains(out, `"instanceIds":["`+mine.InstanceID+`"]`) {
		t.Errorf("by name: exit code %d, printed %q, said %q", code, out, said)
	}
	code, out, said := create("--instance", mine.InstanceID, "--expires", "30d")
	var key struct {
		Account   string    `json:"account"`
		Key       string    `json:"key"`
		ExpiresAt time.Time `json:"expiresAt"`
	}
	if err := json.Unmarshal([]byte(out), &key); code != 0 || err != nil {
		t.Fatalf("exit code %d, printed %q, said %q", code, out, said)
	}
	if left := time.Until(key.ExpiresAt); key.Account != "test" || left < 719*time.Hour || left > 720*time.Hour {
		t.Errorf("made %+v", key)
	}
	count := 0
	for instance, err := range client.New(g.BaseURL, key.Key).Instances(t.Context(), client.ListInstancesParams{}) {
		count++
		if err != nil || instance.InstanceID != mine.InstanceID {
			t.Errorf("reaches %+v (%v)", instance, err)
		}
	}
	if count != 1 {
		t.Errorf("reaches %d instances", count)
	}
	if _, err := g.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "shop"}); err != nil {
		t.Fatal(err)
	}
	if code, _, said := create("--instance", "shop"); code != 2 || !strings.Contains(said, "2 instances are called shop, choose one by its id: "+mine.InstanceID) {
		t.Errorf("of two: exit code %d, said %q", code, said)
	}
	for _, wrong := range []string{"30x", "-1d", "d", "99999999999d"} {
		if code, _, said := create("--expires", wrong); code != 2 || !strings.Contains(said, "30d") {
			t.Errorf("%s: exit code %d, said %q", wrong, code, said)
		}
	}
}

// In the folder of dev, the keys are dev's.
func TestKeysOfDev(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	g := testkit.Start(t, testkit.Options{DataDir: folder})
	made, err := demo.Prepare(t.Context(), g.Server, folder, "", false)
	if err != nil {
		t.Fatal(err)
	}
	if _, out, said := run(t, "", "keys", "list", "--data", folder); strings.Count(out, "\n") != 2 || !strings.Contains(out, "demo partner\tyes\tvalid") {
		t.Errorf("printed %q, said %q", out, said)
	}
	_, secret, _ := run(t, "", "keys", "create", "--data", folder, "--name", "mine")
	code, out, said := run(t, "", "instances", "list", "--url", g.BaseURL, "--api-key", strings.TrimSpace(secret))
	if code != 0 || !strings.HasPrefix(out, made.InstanceID+"\tdemo\tconnected\t") {
		t.Errorf("exit code %d, printed %q, said %q", code, out, said)
	}
}

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
