// Linking an account that asks for its passkey, on the dashboard.

package browsertest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/e2e/browsertest/browser"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/whatsapp"
)

// atName is the program's address with a name: passkeys belong to a name, and an address
// has none.
func (w *world) atName() string { return strings.Replace(w.BaseURL, "127.0.0.1", "localhost", 1) }

// asked creates an instance whose code the shop's phone scans, which asks for a passkey,
// and opens it as the owner at the base address.
func (w *world) asked(base string, rule any) (p *browser.Page, id string, question client.Passkey) {
	w.t.Helper()
	w.Phones.Update(w.t, shopNumber, map[string]any{"passkey": rule})
	made, err := w.Partner.CreateInstance(w.t.Context(), client.NewInstance{Name: "Padaria"})
	if err != nil {
		w.t.Fatal(err)
	}
	p = browser.New(w.t, base)
	p.Open(w.ownersLink())
	p.AwaitPath("/instances")
	p.Open("/instances/" + made.InstanceID)
	mark(p)
	p.ClickText("button", "Show QR code")
	p.Await(".qr img")
	w.scan(made.InstanceID)
	return p, made.InstanceID, w.AwaitPasskey(w.t, made.InstanceID, gateway.PasskeyRequested)
}

// scan lets the shop's phone scan the code that an instance shows.
func (w *world) scan(id string) {
	w.t.Helper()
	code, err := w.Client.GetQRCode(w.t.Context(), id, client.GetQRCodeParams{Format: client.FormatRaw})
	if err != nil {
		w.t.Fatal(err)
	}
	w.Phones.Scan(w.t, shopNumber, code.QRCode)
}

// forgiving lets a test cause a refusal of the page's own requests.
func forgiving(p *browser.Page, status int) {
	p.Forgive(http.StatusText(status))
	p.Forgive("Response Status Error Code")
}

// On a page that may not sign, somebody signs elsewhere and pastes the answer. A wrong one is
// refused with the reason, and the question stays.
func TestPastedAnswerLinks(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{})
	p, id, question := w.asked(w.BaseURL, true)
	p.AwaitText("#state", "Waiting for passkey")
	p.AwaitText("#passkey-snippet", "navigator.credentials.get")
	p.AwaitGone("[data-sign]")
	p.AwaitGone(".qr")
	p.Click("[data-copy=passkey-snippet]")
	p.AwaitText(".toast", "Copied.")
	p.AwaitTrue("the line in the clipboard", `navigator.clipboard.readText().then((text) => text === document.querySelector("#passkey-snippet").textContent)`)

	forgiving(p, http.StatusBadRequest)
	for wrong, says := range cases.Sorted(map[string]string{
		"hello": "it begins with {",
		string(w.Phones.AnswerPasskey(t, shopNumber, question.Request, "https://evil.example")): "it must be a page of localhost",
	}) {
		p.Fill("#passkey-answer", wrong)
		p.ClickText("[data-signing] button", "Send")
		p.AwaitText(".wrong, .toast.bad", says)
	}
	if state := w.AwaitPasskey(t, id, gateway.PasskeyRequested); state.Reason != "" {
		t.Errorf("the question changed to %+v", state)
	}
	p.Fill("#passkey-answer", string(w.Phones.AnswerPasskey(t, shopNumber, question.Request, "")))
	p.ClickText("[data-signing] button", "Send")
	p.AwaitText("#state", "Connected")
	p.AwaitText(".facts", "+"+shopNumber)
	p.AwaitGone("[data-signing]")
	stays(t, p)
}

// The code is confirmed on the dashboard alone: the time runs out, the page says so, and the
// next code links when both sides confirm.
func TestCodeIsConfirmedOnBothSides(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{Platform: whatsapp.Config{ComparePasskeys: true}})
	p, id, _ := w.asked(w.BaseURL, map[string]any{"compare": true, "seconds": 3})
	w.AnswerPasskey(t, id, shopNumber)
	shown := w.AwaitPasskey(t, id, gateway.PasskeyConfirm)
	p.AwaitText("#passkey-code", shown.Code)
	p.ClickText("button", "It is the same code")
	p.AwaitText("#passkey-confirmed", "confirm it there too")
	p.AwaitText("#passkey-failed", "the code was not confirmed on the phone in time")

	w.Phones.Update(t, shopNumber, map[string]any{"passkey": map[string]any{"compare": true}})
	p.Await(".qr img")
	w.scan(id)
	p.AwaitGone("#passkey-failed")
	w.AnswerPasskey(t, id, shopNumber)
	p.AwaitText("#passkey-code", w.AwaitPasskey(t, id, gateway.PasskeyConfirm).Code)
	w.Phones.Do(t, shopNumber, "passkey/confirm")
	p.ClickText("button", "It is the same code")
	p.AwaitText("#state", "Connected")
}

// A passkey is made on the phone's page and signs on the dashboard, both in one tab, which has
// the device that keeps it. Somebody else can't use it; then its owner tries again.
func TestPasskeyOfTheBrowserLinks(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{})
	p := browser.New(t, w.atName())
	p.AddAuthenticator()
	w.Phones.Get(t, shopNumber)
	p.Open("/sandbox?left=" + shopNumber)
	opening(`#left-head [aria-label="Settings of the phone"]`)(p)
	p.Click("[name=passkey]")
	p.Fill("#d-passkey-seconds", "300")
	p.ClickText("dialog[open] button", "Save")
	p.AwaitGone("dialog[open]")
	opening(`#left-head [aria-label="Settings of the phone"]`)(p)
	p.AwaitTrue("the switch as it was saved", `document.querySelector("[name=passkey]").checked && document.querySelector("#d-passkey-seconds").value === "300"`)
	p.ClickText("dialog[open] button", "Make a passkey in this browser")
	p.AwaitText("[data-passkeys]", "Made in a browser")

	made, err := w.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "Padaria"})
	if err != nil {
		t.Fatal(err)
	}
	p.Open(w.ownersLink())
	p.AwaitPath("/instances")
	p.Open("/instances/" + made.InstanceID)
	mark(p)
	p.ClickText("button", "Show QR code")
	p.Await(".qr img")
	phone := p.Beside()
	phone.Open("/sandbox?left=" + shopNumber)
	phone.ClickText("#left button", "Scan")
	phone.ClickText("dialog[open] .codes button", "Link")
	phone.AwaitText("#left-head", "the account's passkey has to sign")

	p.Verifies(false)
	p.ClickText("button", "Sign here")
	p.AwaitText("[data-problem]", "The request is still open")
	w.AwaitPasskey(t, made.InstanceID, gateway.PasskeyRequested)
	p.Verifies(true)
	p.ClickText("button", "Sign here")
	p.AwaitText("#state", "Connected")
	stays(t, p)
	phone.AwaitText("#left-head", "linked")
	opening(`#left-head [aria-label="Settings of the phone"]`)(phone)
	phone.AwaitText("dialog[open]", "Recado")
}

// The phone shows the code that the dashboard shows. It is refused there once, and confirmed
// on both pages then.
func TestCodeIsComparedOnThePhone(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{Platform: whatsapp.Config{ComparePasskeys: true}})
	p, id, _ := w.asked(w.BaseURL, map[string]any{"compare": true, "seconds": 6})
	phone := w.stranger()
	phone.Open("/sandbox?left=" + shopNumber)
	phone.AwaitText("#left-head", "has to sign")
	w.AnswerPasskey(t, id, shopNumber)
	p.AwaitText("#passkey-code", phone.Text("[data-compare]"))
	phone.ClickText("#left-head button", "Another one")
	phone.AwaitText("#left-head", "the codes are not the same")
	p.Await("#passkey-failed")

	w.Phones.Update(t, shopNumber, map[string]any{"passkey": map[string]any{"compare": true}})
	p.Await(".qr img")
	w.scan(id)
	w.AnswerPasskey(t, id, shopNumber)
	p.AwaitText("#passkey-code", w.AwaitPasskey(t, id, gateway.PasskeyConfirm).Code)
	phone.ClickText("#left-head button", "The same")
	phone.AwaitText("#left-head", "Confirmed here")
	p.ClickText("button", "It is the same code")
	p.AwaitText("#state", "Connected")
	phone.AwaitGone("[data-compare]")
}

// The question for a passkey looks right, in each of its states.
func TestPasskeyPagesLookRight(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{})
	rule := map[string]any{"compare": true, "seconds": 600}
	p, id, _ := w.asked(w.BaseURL, rule)
	w.looks(t, "elsewhere", p, []look{{name: "a passkey to sign elsewhere", path: "/instances/" + id}})
	platform := start(t, testkit.Options{PasskeyName: platformHost})
	p, id, _ = platform.asked(platform.BaseURL, rule)
	platform.looks(t, "on the messenger's page", p, []look{{name: "a passkey to sign on the messenger's page", path: "/instances/" + id, act: func(p *browser.Page) {
		p.Await(`[data-elsewhere] a[href="https://web.whatsapp.com"]`)
	}}})
	here := start(t, testkit.Options{})
	p, id, _ = here.asked(here.atName(), rule)
	here.looks(t, "here", p, []look{{name: "a passkey to sign here", path: "/instances/" + id, act: func(p *browser.Page) { p.Await("[data-sign]") }}})
	compared := start(t, testkit.Options{Platform: whatsapp.Config{ComparePasskeys: true}})
	p, id, _ = compared.asked(compared.BaseURL, rule)
	compared.AnswerPasskey(t, id, shopNumber)
	compared.AwaitPasskey(t, id, gateway.PasskeyConfirm)
	compared.looks(t, "compared", p, []look{{name: "a code to compare", path: "/instances/" + id}})
	phone := compared.stranger()
	compared.looks(t, "on the phone", phone, []look{
		{name: "a code on the phone", path: "/sandbox?left=" + shopNumber, act: func(p *browser.Page) { p.Await("[data-compare]") }},
		{name: "passkeys of the phone", path: "/sandbox?left=" + shopNumber, act: opening(`#left-head .deeds [hx-get$="` + shopNumber + `"]`)},
	})
	failed := start(t, testkit.Options{})
	p, id, _ = failed.asked(failed.BaseURL, map[string]any{"seconds": 1})
	failed.AwaitPasskey(t, id, gateway.PasskeyFailed)
	p.Await(".qr img")
	p.Language("pt-BR")
	p.Open("/instances/" + id)
	p.AwaitText("#passkey-failed", "ninguém respondeu a tempo")
	phone = failed.stranger()
	phone.Language("pt-BR")
	phone.Open("/sandbox?left=" + shopNumber)
	phone.AwaitText("#left-head", "não foi conectado: ninguém respondeu a tempo")
	failed.looks(t, "failed", p, []look{{name: "a passkey that failed", path: "/instances/" + id}})
}
