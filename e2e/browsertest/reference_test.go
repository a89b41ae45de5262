// The API's reference, from which requests are sent.

package browsertest_test

import (
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit"
)

// An owner finds an operation, makes a key, sends a text from its page, and sees it arrive at the phone.
func TestTextIsSentFromTheReference(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{})
	id := w.Link(t, shopNumber)
	w.Phones.Get(t, customerNumber)
	phone := w.stranger()
	phone.Open(chatOf(customerNumber, shopNumber))
	p := w.owner()
	p.Open("/docs/api")
	p.Fill("#filter", "quoteMessageId poll")
	p.AwaitTrue("only what has both words", `[...document.querySelectorAll(".operations li:not([hidden])")].map((e) => e.id).join() === "sendPoll"`)
	p.Fill("#filter", "send a text")
	p.Click("#sendText a")
	p.AwaitPath("/docs/api/sendText")

	// The samples have the instance, follow the form, and get the key.
	p.AwaitText("#sample-curl", "/api/message/"+id+"/text")
	p.ClickText("#try-form button", "Make one")
	p.AwaitTrue("a key", `document.querySelector("#try-key").value.startsWith("rcd_")`)
	p.AwaitTrue("the key in the sample", `document.querySelector("#sample-curl").textContent.includes("x-api-key: " + document.querySelector("#try-key").value)`)
	p.Eval(`void document.querySelector(".languages [value=node]").click()`, nil)
	p.Fill("#try-body", `{"to": "`+customerNumber+`", "message": "Sent from the page"}`)
	p.AwaitText("#sample-node", `"message": "Sent from the page"`)

	p.ClickText("#try-form button", "Send")
	p.AwaitText("#try-status", "201 Created")
	p.AwaitText("#try-text", `"messageId"`)
	p.AwaitText("#try-headers", "application/json")
	phone.AwaitText("body", "Sent from the page")

	// What never ends is shown as it comes, until one has seen enough.
	p.Open("/docs/api/streamEvents")
	p.Fill("#try-header-Last-Event-ID", "0")
	p.ClickText("#try-form button", "Send")
	p.AwaitText("#try-text", "message.sent")
	p.ClickText("#try-form button", "Stop")
	p.AwaitText("#try-took", "Interrupted.")

	// The key stays in the tab, and the language in the browser; neither is in the address.
	p.Open("/docs/api#logoutInstance")
	p.AwaitPath("/docs/api/logoutInstance")
	p.AwaitTrue("the key and the language are kept", `document.querySelector("#sample-node").checkVisibility() && document.querySelector("#sample-node").textContent.includes(document.querySelector("#try-key").value)`)
	beside := p.Beside()
	beside.Open("/docs/api/sendText")
	beside.AwaitTrue("no key in another tab", `document.querySelector("#try-key").value === "" && document.querySelector("#sample-curl").textContent.includes("YOUR_API_KEY")`)

	// What ends something is asked for first.
	p.ClickText("#try-form button", "Send")
	p.AwaitText("dialog[open]", "can't be undone")
	p.ClickText("dialog[open] button", "Cancel")
	p.AwaitGone("dialog[open]")
	if p.Count("#try-answer:not([hidden])") > 0 {
		t.Error("it was sent without a word")
	}
	p.ClickText("#try-form button", "Send")
	p.ClickText("dialog[open] button", "Send")
	p.AwaitText("#try-status", "200 OK")
	for _, request := range p.Requests() {
		if !strings.HasPrefix(request.URL, w.BaseURL) && !strings.HasPrefix(request.URL, "data:") || strings.Contains(request.URL, "rcd_") {
			t.Errorf("a request leaves the machine, or has the key in its address: %s", request.URL)
		}
	}
	for _, problem := range p.Problems() {
		t.Errorf("in the browser: %s", problem)
	}
}
