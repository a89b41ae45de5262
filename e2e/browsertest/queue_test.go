// Messages that wait: left by the test field, seen on their page, cancelled, and sent.

package browsertest_test

import (
	"testing"
	"time"

	"github.com/recado-project/recado/e2e/browsertest/browser"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
)

// leave leaves a text in the queue by the test field of the page.
func leave(p *browser.Page, text string) {
	p.Eval(`document.querySelector("#new-message").open || document.querySelector("#new-message").showModal()`, nil)
	p.Fill("#to", customerNumber)
	p.Fill("#text", text)
	p.ClickText("#new-message button", "Send")
	p.AwaitText("#left", "The message is in the queue")
}

// A time that somebody chooses is meant in the time zone of the browser. The message waits
// for it on the page of the queue, where it can be cancelled; so can all others.
func TestQueuedMessageIsScheduledAndCancelled(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{})
	id := w.Link(t, shopNumber)
	w.Phones.Get(t, customerNumber)
	p := w.owner()
	p.Open("/instances/" + id + "/chats")
	day := time.Now().Add(72 * time.Hour).UTC().Format(time.DateOnly)
	p.Eval(`void (document.querySelector("#at").value = "`+day+`T09:30")`, nil)
	leave(p, "Amanhã cedo <b>tem</b> broa.")
	p.AwaitText("#left", "9:30:00 AM")
	listed, err := w.Client.ListQueue(t.Context(), id, 1, 10)
	if err != nil || len(listed.Data) != 1 {
		t.Fatalf("the queue has %+v (%v)", listed, err)
	}
	if got, want := listed.Data[0].SendAt.UTC().Format(time.RFC3339), day+"T12:30:00Z"; got != want {
		t.Errorf("the message is due at %s, want %s: the browser is in São Paulo", got, want)
	}
	p.ClickText("#left a", "See the queue")
	p.AwaitPath("/instances/" + id + "/queue")
	mark(p)
	awaitRow(p, "+"+customerNumber, "Amanhã cedo <b>tem</b> broa.", "Scheduled", "9:30:00 AM")
	overview, form := p.Beside(), p.Beside()
	overview.Open("/instances/" + id)
	overview.AwaitText("#waiting", "One message is waiting in the queue.")
	mark(overview)

	// Others come by themselves.
	form.Open("/instances/" + id + "/chats")
	for _, text := range []string{"Segunda", "Terceira"} {
		form.Eval(`void (document.querySelector("#at").value = "`+day+`T10:00")`, nil)
		leave(form, text)
		awaitRow(p, text, "Scheduled", "10:00:00 AM")
	}
	overview.AwaitText("#waiting", "3 messages are waiting in the queue.")
	p.ClickText("tbody tr:first-child button", "Cancel")
	p.AwaitText(".toast", "will not be sent")
	p.AwaitText("#queue", "2 messages are waiting")
	p.ClickText("#queue button", "Cancel all")
	p.ClickText("dialog[open] button", "Cancel all")
	p.AwaitText("#queue", "The queue is empty")
	p.AwaitGone("dialog[open]")
	overview.AwaitGone("#waiting")
	stays(t, p)
	stays(t, overview)
	p.Open("/audit")
	p.AwaitText("main", "Cancelled all messages in the queue")
	p.AwaitText("main", "Queued a message")
}

// A message that is due waits for its instance. It says so, and when it can be sent it is
// on the phone, and no longer on the page of the queue.
func TestQueuedMessageIsSentOnceItCanBe(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{})
	id := w.Link(t, shopNumber)
	w.Phones.Get(t, customerNumber)
	p, phone := w.owner(), w.stranger()
	p.Open("/instances/" + id)
	p.ClickText("button", "Stop")
	w.AwaitStatus(t, id, gateway.StatusManuallyStopped)
	phone.Open(chatOf(customerNumber, shopNumber))
	mark(phone)
	form, list := p.Beside(), p.Beside()
	list.Open("/instances/" + id + "/queue")
	list.AwaitText("#queue", "The queue is empty")
	mark(list)
	form.Open("/instances/" + id + "/chats")
	form.Click("[data-dialog=new-message]")
	form.Click("[name=queue]")
	leave(form, "Saiu do forno!")
	awaitRow(list, "Saiu do forno!", "Held", "not connected")
	p.ClickText("button", "Restart")
	phone.AwaitText(".log .text", "Saiu do forno!")
	list.AwaitText("#queue", "The queue is empty")
	stays(t, list)
	stays(t, phone)

	// What is sent at once says no more of the queue.
	form.Fill("#text", "E agora?")
	form.ClickText("#new-message button", "Send")
	form.AwaitText(".toast", "Sent.")
	form.AwaitGone("#left .notice")
	phone.AwaitText(".log .text", "E agora?")
}
