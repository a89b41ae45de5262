// The webhooks of the account, which hear all instances.

package browsertest_test

import (
	"testing"

	"github.com/recado-project/recado/internal/testkit"
)

// A webhook of the account is added, changed and removed by its owner, and hears instances that
// have none of their own.
func TestAccountWebhookIsSetUp(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{})
	id := w.Link(t, shopNumber)
	sink := testkit.NewSink(t)
	p := w.owner()
	p.ClickText(".side a", "Webhooks")
	p.AwaitPath("/webhooks")
	p.ClickText("main a", "Add webhook")
	p.AwaitPath("/webhooks/new")
	p.Fill("#url", sink.URL)
	p.ClickText("form button", "Save")
	p.AwaitText("#facts", "Active")
	page := p.Path()
	w.Phones.SendText(t, customerNumber, shopNumber, "Oi!")
	sink.AwaitType("message.received", nil)

	p.Open("/instances/" + id + "/webhook")
	p.AwaitText(".facts", "This webhook is for all instances")
	p.ClickText(".facts a", "Open webhook")
	p.AwaitPath(page)
	p.Click("#scope")
	p.Click(`[name=chats][value=group]`)
	p.Click("[name=active]")
	p.ClickText("form button", "Save")
	p.AwaitText("#facts", "Inactive")
	p.AwaitText(".facts", "Groups")
	p.Open("/webhooks")
	p.AwaitText("tbody tr", "Inactive")
	p.ClickText("tbody a", sink.URL)
	p.AwaitPath(page)
	p.Click("[data-dialog=delete]")
	p.ClickText("dialog[open] button", "Delete")
	p.AwaitPath("/webhooks")
	p.AwaitText(".empty", "No webhook yet")
	p.Open("/audit")
	p.AwaitText("tbody", "127.0.0.1")
}
