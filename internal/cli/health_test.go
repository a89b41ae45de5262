package cli_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit"
)

// The health command succeeds where a gateway serves, and says why it does not.
func TestHealth(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	if code, out, said := run(t, "", "health", "--url", g.BaseURL); code != 0 || strings.TrimSpace(out) != "ok" {
		t.Errorf("exit code %d: %s%s", code, out, said)
	}
	ill := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }))
	defer ill.Close()
	for address, want := range map[string]string{
		ill.URL:                    "is not ready: it answered 503",
		ill.URL + "/sandbox/trust": "is not ready: it answered 503",
		"http://127.0.0.1:1":       "no gateway answers at",
		"gateway":                  "needs http:// or https://",
	} {
		if code, _, said := run(t, "", "health", "--url", address); code == 0 || !strings.Contains(said, want) {
			t.Errorf("%s: exit code %d: %s", address, code, said)
		}
	}
}
