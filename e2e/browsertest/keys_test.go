// The life of an API key.

package browsertest_test

import (
	"net/http"
	"testing"

	"github.com/recado-project/recado/internal/testkit"
)

// A key is made, copied, used, revoked, and refused from then on.
func TestKeyIsMadeCopiedAndRevoked(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{})
	p := w.owner()
	p.Open("/keys")
	p.ClickText("a", "New API key")
	p.Fill("#name", "the till")
	p.ClickText("form button", "Create")
	p.AwaitText("h1", "the till")
	secret := p.Text("#secret")
	p.Click("[data-copy=secret]")
	p.AwaitText(".toast", "Copied.")
	var copied string
	p.Eval(`navigator.clipboard.readText()`, &copied)
	if copied != secret || len(secret) < 20 {
		t.Errorf("the clipboard has %q, the page %q", copied, secret)
	}
	if status := w.useKey(secret); status != http.StatusOK {
		t.Errorf("the key is answered %d", status)
	}
	p.ClickText("a", "I have copied it")
	p.AwaitPath("/keys")
	p.ClickText("tr:has(.state.good) button", "Revoke")
	p.AwaitText("dialog[open] h2", "Revoke the till?")
	p.ClickText("dialog[open] button", "Revoke")
	awaitRow(p, "the till", "Revoked")
	if status := w.useKey(secret); status != http.StatusUnauthorized {
		t.Errorf("the key that was revoked is answered %d", status)
	}
}

// useKey asks the API for the instances with a key, and returns the status.
func (w *world) useKey(secret string) int {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.BaseURL+"/api/instances", http.NoBody)
	if err != nil {
		w.t.Fatal(err)
	}
	request.Header.Set("X-Api-Key", secret)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode
}
