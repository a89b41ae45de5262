package cli_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// The health command succeeds where a gateway serves, and says why it does not.
func TestHealth(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	if code, out, said := run(t, "", "health", "--url", g.BaseURL); code != 0 || !strings.HasPrefix(out, "ok\nweb client 2.3000.") {
		t.Errorf("exit code %d: %s%s", code, out, said)
	}
	g.Phones.Faults(t, map[string]any{"outdated": true, "versionPage": "down"})
	created, err := g.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Client.GetQRCode(t.Context(), created.InstanceID, client.GetQRCodeParams{}); err == nil {
		t.Error("a code is shown by a platform that refuses the version")
	}
	if code, out, said := run(t, "", "health", "--url", g.BaseURL); code != 0 || !strings.Contains(out, "refuses it since 20") || !strings.Contains(out, "status 503") {
		t.Errorf("exit code %d: %s%s", code, out, said)
	}
	if code, out, said := run(t, "", "health", "--json", "--url", g.BaseURL); code != 0 || !strings.Contains(out, `"trouble":"the page was answered with status 503"`) {
		t.Errorf("exit code %d: %s%s", code, out, said)
	}
	ill := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }))
	defer ill.Close()
	for address, want := range cases.Sorted(map[string]string{
		ill.URL:                    "is not ready: it answered 503",
		ill.URL + "/sandbox/trust": "is not ready: it answered 503",
		"http://127.0.0.1:1":       "no gateway answers at",
		"gateway":                  "needs http:// or https://",
	}) {
		if code, _, said := run(t, "", "health", "--url", address); code == 0 || !strings.Contains(said, want) {
			t.Errorf("%s: exit code %d: %s", address, code, said)
		}
	}
}
