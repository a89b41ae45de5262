// The first minutes with the program.

package browsertest_test

import (
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit"
)

// Somebody opens the link that the program has printed, sets a password, creates an
// instance, and links it by a click on the page of the phones.
func TestFirstStart(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{})
	link, made, err := w.Server.Users().FirstLink(t.Context(), w.accountID())
	if err != nil || !made {
		t.Fatalf("there is no link for the first owner (%v)", err)
	}
	p := w.stranger()
	p.Open(link.Path())
	p.Fill("#password", password)
	p.Fill("#again", password)
	p.ClickText("button", "Set the password")
	p.AwaitPath("/instances")
	p.AwaitText("h2", "No instances yet")

	p.ClickText(".empty button", "New instance")
	p.Fill("dialog[open] #name", "Padaria da Conceição")
	p.ClickText("dialog[open] button", "Create")
	p.AwaitText("h1", "Padaria da Conceição")
	mark(p)
	p.ClickText("button", "Show QR code")
	p.AwaitTrue("the picture of the code", `document.querySelector(".qr img")?.naturalWidth >= 64`)
	p.AwaitTrue("the countdown", `/^[0-2]:[0-5]\d$/.test(document.querySelector("[data-until]").textContent)`)

	w.Phones.Get(t, shopNumber)
	phone := w.stranger()
	phone.Open("/sandbox?left=" + shopNumber)
	phone.ClickText("#left button", "Scan")
	phone.AwaitText("dialog[open] .codes", "Padaria da Conceição")
	phone.ClickText("dialog[open] .codes button", "Link")

	p.AwaitText("#state", "Connected")
	p.AwaitText(".facts", "+"+shopNumber)
	p.AwaitGone(".qr")
	stays(t, p)
	if path := p.Path(); !strings.HasPrefix(path, "/instances/") {
		t.Errorf("the page is %s", path)
	}
	phone.AwaitGone("dialog[open]")
}
