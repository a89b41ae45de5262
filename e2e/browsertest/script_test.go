// Scripts that others write into what people look at.

package browsertest_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/e2e/browsertest/browser"
	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// hostile is a text that a page must show as it stands.
const hostile = `<script>window.pwned=1</script><img src=x onerror="window.pwned=1">'"`

// Whatever contacts, endpoints and colleagues write, no page runs it: it is shown as text.
func TestScriptsOfOthersAreText(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{})
	endpoint := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.WriteHeader(http.StatusTeapot)
		_, _ = rw.Write([]byte(hostile))
	}))
	t.Cleanup(endpoint.Close)
	for _, number := range []string{shopNumber, customerNumber} {
		w.Phones.Update(t, number, map[string]any{"name": hostile})
	}
	made, err := w.Partner.CreateInstance(t.Context(), client.NewInstance{Name: hostile})
	if err != nil {
		t.Fatal(err)
	}
	id := made.InstanceID
	w.Scan(t, id, shopNumber)
	if _, _, err := w.Server.Access().CreateKey(t.Context(), access.KeyParams{AccountID: w.accountID(), Name: hostile, InstanceIDs: []string{id}}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Client.SendText(t.Context(), id, client.Text{To: customerNumber, Message: hostile}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Client.SendText(t.Context(), id, client.Text{To: customerNumber, Message: hostile, SendAt: time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	for _, message := range []map[string]any{
		{"type": "text", "text": hostile},
		{"type": "document", "media": "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==", "fileName": hostile, "caption": hostile},
		{"type": "location", "latitude": 1.5, "longitude": 2.5, "name": hostile, "address": hostile},
		{"type": "contact", "contact": map[string]any{"fullName": hostile, "phoneNumber": customerNumber, "organization": hostile}},
		{"type": "poll", "text": hostile, "options": []string{hostile, "b"}},
	} {
		message["to"] = shopNumber
		w.Phones.Send(t, customerNumber, message)
	}
	group := w.Phones.CreateGroup(t, hostile, customerNumber, shopNumber)
	w.Phones.Send(t, customerNumber, map[string]any{"to": group.ID, "type": "text", "text": hostile})

	w.Phones.SetLabel(t, shopNumber, "1", hostile, 0)
	w.Phones.LabelChat(t, shopNumber, customerNumber+"@s.whatsapp.net", "1", true)

	p := w.owner()
	p.Open("/instances/" + id + "/webhook")
	p.Fill("#url", endpoint.URL)
	p.ClickText("form button", "Save")
	p.AwaitText("#delivery", "Delivering")
	p.ClickText("button", "Send a test event")
	p.AwaitText("#tested", hostile)
	w.Phones.SendText(t, customerNumber, shopNumber, "something to deliver")
	p.Open("/instances/" + id + "/webhook/deliveries")
	p.Await("tbody details summary")
	p.Click("tbody details summary")
	p.AwaitText("tbody details pre", hostile)
	harmless(t, p)

	one := "/instances/" + id
	for path, shown := range cases.Sorted(map[string]string{
		"/instances": ".name", one: "h1", one + "/chats": "#inbox-chats", "/instances?search=" + url.QueryEscape(hostile): ".name",
		one + "/chats?chat=" + customerNumber + "@s.whatsapp.net": "#inbox-log",
		one + "/chats?chat=" + url.QueryEscape(group.ID):          "#inbox-log",
		one + "/chats?label=1":                                    "#inbox-chats .tag",
		one + "/groups":                                           "tbody", one + "/groups/" + group.ID: "#group",
		one + "/contacts": "tbody", one + "/contacts/" + customerNumber: "#contact",
		one + "/queue": "tbody [dir=auto]", one + "/webhook": "h1", one + "/code": "h1", "/keys": ".name", "/keys/new": "h1", "/audit": "h1", "/health": "h1",
		chatOf(customerNumber, shopNumber): "#left-log", chatOf(shopNumber, customerNumber): "#left-log",
		"/sandbox?left=" + customerNumber + "&leftChat=" + url.QueryEscape(group.ID): "#left-chat",
	}) {
		p.Open(path)
		if shown == "h1" && path != one {
			p.Await(shown)
		} else {
			p.AwaitText(shown, hostile)
		}
		harmless(t, p)
	}
	p.Open(one + "/events")
	p.ClickText(".events summary", "message.received")
	p.AwaitText(".events pre", "pwned=1")
	harmless(t, p)

	// The dialogs name things too.
	p.Open(chatOf(customerNumber, shopNumber))
	for _, opener := range []string{"#left-head [aria-label='Settings of the phone']", "#left-chat [aria-label='About the chat']", "#left-chats [aria-label='New chat or group']", ".log .tools [aria-label=More]"} {
		p.Click(opener)
		p.Await("dialog[open] #dialog-title")
		harmless(t, p)
		p.Press(browser.Escape)
		p.AwaitGone("dialog[open]")
	}
}

// harmless fails the test if a text of somebody else has become a part of the page. Where
// the browser would not run it by the page's policy, it must not be there all the same.
func harmless(t *testing.T, p *browser.Page) {
	t.Helper()
	var found struct {
		Ran     bool
		Scripts int
		Images  int
	}
	p.Eval(`({ Ran: window.pwned !== undefined, Scripts: document.querySelectorAll("script:not([src])").length, Images: document.querySelectorAll("img[src=x], [onerror]").length })`, &found)
	if found.Ran || found.Scripts > 0 || found.Images > 0 {
		t.Errorf("%s: a text has become a part of the page: %+v", p.Path(), found)
	}
}
