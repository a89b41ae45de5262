// What the tests share: a program, who is signed in at it, and files to send.

package browsertest_test

import (
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/recado-project/recado/e2e/browsertest/browser"
	"github.com/recado-project/recado/internal/sandbox/samples"
	"github.com/recado-project/recado/internal/testkit"
)

// Phones of the tests: an even last digit exists under thirteen digits.
const (
	shopNumber     = "5511999990100"
	customerNumber = "5511988887766"
)

const password = "a good password, 7 words long"

// world is a running program.
type world struct {
	*testkit.Gateway

	t *testing.T
}

// start starts the program. Where there is no browser, the test is skipped before.
func start(t *testing.T, options testkit.Options) *world {
	t.Helper()
	browser.Need(t)
	return &world{Gateway: testkit.Start(t, options), t: t}
}

// stranger returns a tab in which nobody is signed in.
func (w *world) stranger() *browser.Page {
	w.t.Helper()
	return browser.New(w.t, w.BaseURL)
}

// owner returns a tab in which the owner is signed in.
func (w *world) owner() *browser.Page {
	w.t.Helper()
	p := w.stranger()
	p.Open(w.ownersLink())
	p.AwaitPath("/instances")
	return p
}

// ownersLink signs the owner in, as often as it is used.
func (w *world) ownersLink() string {
	w.t.Helper()
	link, err := w.Server.Users().DevLink(w.t.Context(), w.accountID())
	if err != nil {
		w.t.Fatal(err)
	}
	return link
}

// accountID is the account that the keys of the testkit belong to.
func (w *world) accountID() string {
	w.t.Helper()
	account, err := w.Server.Access().EnsureAccount(w.t.Context(), "test")
	if err != nil {
		w.t.Fatal(err)
	}
	return account.ID
}

// chatOf is the address of the phone page with a phone's chat with another number open.
func chatOf(number, with string) string {
	return "/sandbox?" + url.Values{"left": {number}, "leftChat": {with + "@s.whatsapp.net"}}.Encode()
}

// sample writes a file that comes with the sandbox under another name, and returns its path.
func sample(t *testing.T, name, as string) string {
	t.Helper()
	content, _, found := samples.Read(samples.Prefix + name)
	if !found {
		t.Fatalf("there is no sample %s", name)
	}
	path := filepath.Join(t.TempDir(), as)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// mark lets stays notice that the page was loaded anew.
func mark(p *browser.Page) { p.Eval(`void (window.marked = true)`, nil) }

// stays fails the test if the page was loaded anew since mark.
func stays(t *testing.T, p *browser.Page) {
	t.Helper()
	var marked bool
	p.Eval(`window.marked === true`, &marked)
	if !marked {
		t.Error("the page was loaded anew")
	}
}
