// Signing in without a password.

package browsertest_test

import (
	"strings"
	"testing"

	"github.com/recado-project/recado/e2e/browsertest/browser"
	"github.com/recado-project/recado/internal/testkit"
)

// The owner adds a passkey, signs out, and signs in by it.
func TestPasskeySignsIn(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{})
	// Passkeys belong to a name, and an address has none.
	p := browser.New(t, strings.Replace(w.BaseURL, "127.0.0.1", "localhost", 1))
	p.AddAuthenticator()
	p.Open(w.ownersLink())
	p.AwaitPath("/instances")
	p.Open("/profile")
	p.Fill("#passkey-name", "the laptop")
	p.ClickText("button", "Add a passkey")
	p.AwaitText("section[aria-labelledby=passkeys-title] b", "the laptop")
	p.ClickText("button", "Sign out")
	p.AwaitPath("/signin")
	p.ClickText("button", "Sign in with a passkey")
	p.AwaitPath("/instances")
	p.Open("/audit")
	p.AwaitText("tbody", "passkey")
}
