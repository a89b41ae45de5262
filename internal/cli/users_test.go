package cli_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/user"
)

const goodWord = "correct horse battery"

// Who has forgotten the password gets a link on the machine itself, beside a gateway that
// runs.
func TestUsers(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	g := testkit.Start(t, testkit.Options{DataDir: folder})
	users := func(args ...string) (int, string, string) {
		return run(t, "", append(append([]string{"users"}, args...), "--data", folder, "--account", "test")...)
	}
	if code, out, said := users("list"); code != 0 || out != "" {
		t.Errorf("without users: exit code %d, printed %q, said %q", code, out, said)
	}
	setPassword := func(out string) {
		t.Helper()
		link, err := url.Parse(strings.TrimSpace(out))
		if err != nil || link.Path != "/welcome" {
			t.Fatalf("printed %q", out)
		}
		if _, err := g.Server.Users().SetPassword(t.Context(), user.HashOf(link.Query().Get("token")), goodWord, ""); err != nil {
			t.Fatal(err)
		}
	}
	code, out, said := users("create", "ana", "--role", "owner", "--public-url", "https://recado.example.org/")
	if code != 0 || !strings.HasPrefix(out, "https://recado.example.org/welcome?token=") || !strings.Contains(said, "password of ana; it works once") {
		t.Errorf("exit code %d, printed %q, said %q", code, out, said)
	}
	setPassword(out)
	if code, _, said := users("create", "bia", "--role", "viewer"); code != 0 {
		t.Errorf("exit code %d, said %q", code, said)
	}
	if _, out, _ := users("list"); !strings.HasPrefix(out, "ana\towner\tactive\t20") || !strings.HasSuffix(out, "\nbia\tviewer\tinvited\t-\n") {
		t.Errorf("listed %q", out)
	}
	if code, out, _ := users("list", "--json"); code != 0 || !strings.Contains(out, `"name":"bia","role":"viewer","state":"invited","signedInAt":null`) {
		t.Errorf("exit code %d, listed %q", code, out)
	}
	code, out, said = users("link", "ANA")
	if code != 0 || !strings.HasPrefix(out, "http://127.0.0.1:8080/welcome?token=") {
		t.Errorf("exit code %d, printed %q, said %q", code, out, said)
	}
	setPassword(out)
	if code, out, said := users("delete", "bia"); code != 0 || out != "deleted bia\n" {
		t.Errorf("exit code %d, printed %q, said %q", code, out, said)
	}
	audit, err := g.Server.Users().ListAudit(t.Context(), user.Actor{AccountID: account(t, g), Role: gateway.RoleOwner}, gateway.PageRequest{Page: 1, Limit: 1})
	if err != nil || len(audit.Items) != 1 || audit.Items[0].UserName != "command line" || audit.Items[0].Action != string(user.ActionUserDeleted) {
		t.Errorf("the audit list begins with %+v (%v)", audit.Items, err)
	}
	for _, wrong := range []struct {
		args string
		code int
		says string
	}{
		{"create ana --role viewer", 1, "already a user"},
		{"create ana", 2, "--role is missing"},
		{"create ana --role root", 2, "--role"},
		{"create a/b --role viewer", 1, "the name must begin"},
		{"create caio --role viewer --public-url example.org", 2, "--public-url"},
		{"link caio", 1, "account test has no user caio"},
		{"delete ana", 1, "this is the last owner"},
	} {
		if code, out, said := users(strings.Fields(wrong.args)...); code != wrong.code || out != "" || !strings.Contains(said, wrong.says) {
			t.Errorf("%s: exit code %d, printed %q, said %q", wrong.args, code, out, said)
		}
	}
}

func account(t *testing.T, g *testkit.Gateway) string {
	t.Helper()
	found, err := g.Server.Access().EnsureAccount(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	return found.ID
}
