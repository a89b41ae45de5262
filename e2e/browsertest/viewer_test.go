// What somebody sees who may only look.

package browsertest_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit"
)

// A viewer whom the owner has invited finds nothing on any page that changes something,
// but for the own profile and the way out. The operator's pages have such things, so the
// look for them would find them.
func TestViewerHasNothingToChange(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{})
	id := w.Link(t, shopNumber)
	w.Phones.Get(t, customerNumber)
	_, asking, _ := w.asked(w.BaseURL, map[string]any{"seconds": 600})
	sink := testkit.NewSink(t)
	owner, viewer := w.owner(), w.stranger()
	owner.Open("/instances/" + id + "/webhook")
	owner.Fill("#url", sink.URL)
	owner.ClickText("form button", "Save")
	owner.AwaitText("#delivery", "Delivering")
	w.Phones.SendText(t, customerNumber, shopNumber, "Oi!")
	sink.AwaitType("message.received", nil)

	if _, err := w.Client.SendText(t.Context(), id, client.Text{To: customerNumber, Message: "Até amanhã!", SendAt: time.Now().Add(24 * time.Hour)}); err != nil {
		t.Fatal(err)
	}

	group := w.Phones.CreateGroup(t, "Equipe", shopNumber, customerNumber)

	owner.Open("/users/new")
	owner.Fill("#name", "bia")
	owner.Click("[name=role][value=viewer]")
	owner.ClickText("form button", "Create")
	owner.AwaitText("h1", "A link for bia")
	link, err := url.Parse(owner.Text("#link"))
	if err != nil {
		t.Fatal(err)
	}
	viewer.Open(link.RequestURI())
	viewer.Fill("#password", password)
	viewer.Fill("#again", password)
	viewer.ClickText("button", "Set the password")
	viewer.AwaitPath("/instances")

	const changing = `main :is(form:not([method=get]), [hx-post], [hx-put], [hx-delete], [data-dialog], button[type=submit], input[type=file])`
	one := "/instances/" + id
	for _, path := range []string{
		"/instances", one, "/instances/" + asking, one + "/chats", one + "/chats?chat=" + customerNumber + "@s.whatsapp.net", one + "/groups", one + "/groups/" + group.ID, one + "/queue", one + "/webhook", one + "/contacts/" + customerNumber, one + "/account",
		one + "/webhook/deliveries", one + "/events", one + "/code", "/health",
	} {
		viewer.Open(path)
		viewer.Await("h1")
		if n := viewer.Count(changing + `:not(form[method=get] *)`); n > 0 {
			t.Errorf("%s has %d things that change something: %s", path, n, viewer.Text(changing))
		}
		if path == one+"/events" {
			viewer.ClickText(".events summary", "message.received")
			viewer.AwaitText(".events pre", "Oi!")
			if n := viewer.Count(".events [hx-post]"); n > 0 {
				t.Errorf("an opened event has %d buttons", n)
			}
		}
		if path == "/instances/"+asking {
			viewer.AwaitText("#state", "Waiting for passkey")
		}
		if path == "/instances" {
			viewer.AwaitText("main", "Waiting for passkey")
		}
		if path == one+"/webhook/deliveries" {
			viewer.Await("tbody tr")
		}
		if path == one+"/queue" {
			viewer.AwaitText("tbody", "Até amanhã!")
		}
		if path == one+"/groups/"+group.ID {
			viewer.AwaitText("#group", "Equipe")
			owner.Open(path)
			owner.Await("#invite")
			if viewer.Count("#invite") > 0 {
				t.Error("a viewer gets the link of a group")
			}
			continue
		}
		if path == "/health" || path == one+"/groups" || path == one+"/code" || path == one+"/events" {
			continue // nobody changes anything there, but what is looked at above
		}
		owner.Open(path)
		owner.Await("h1")
		if owner.Count(changing) == 0 {
			t.Errorf("%s has nothing for an owner", path)
		}
	}
	// The links to what only owners see are not there either.
	for _, hidden := range []string{"/keys", "/webhooks", "/users", "/audit"} {
		if n := viewer.Count(`a[href="` + hidden + `"]`); n > 0 {
			t.Errorf("a link leads to %s", hidden)
		}
	}
}
