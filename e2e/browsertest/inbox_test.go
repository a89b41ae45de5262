// Chats as an inbox: somebody with nothing but a browser answers customers.

package browsertest_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/recado-project/recado/e2e/browsertest/browser"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/await"
)

// inboxField is the field to write in.
const inboxField = "#inbox-write textarea"

// openAbout shows who is in the open chat, where that is not beside it.
func openAbout(p *browser.Page) {
	p.Eval(`getComputedStyle(document.querySelector(".about-opener")).display === "none" || document.querySelector("#inbox-about").showPopover()`, nil)
}

// settled waits until the script knows what it has put into the page. Before, a link leads to a page
// of its own: a moment that no reader notices.
func settled(p *browser.Page) {
	p.AwaitTrue("the script knows the page", `!document.querySelector(".htmx-request, .htmx-swapping, .htmx-settling, .htmx-added")`)
}

// answered waits until the customer's phone has a message of the shop that is as wanted, and returns it.
func (w *world) answered(t *testing.T, what string, is func(content.Shown) bool) (found content.Shown) {
	t.Helper()
	await.Until(t, what+" on the phone", func() bool {
		messages := w.Phones.Messages(t, customerNumber, "")
		place := slices.IndexFunc(messages, func(m content.Shown) bool { return !m.FromMe && is(m) })
		if place >= 0 {
			found = messages[place]
		}
		return place >= 0
	})
	return found
}

// A customer is answered with a text, an answer to one message, several files at once and a voice
// message; what was written is reacted to, edited, forwarded and deleted. The page is never loaded
// anew, and the phone has it all.
func TestCustomerIsAnswered(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{})
	id := w.Link(t, shopNumber)
	w.Phones.Update(t, customerNumber, map[string]any{"name": "Marina"})
	question := w.Phones.AwaitMessage(t, shopNumber, w.Phones.SendText(t, customerNumber, shopNumber, "Tem pão de queijo?")).MessageID
	const other = "5511977776664"
	w.Phones.AwaitMessage(t, shopNumber, w.Phones.SendText(t, other, shopNumber, "Oi!"))
	p := w.owner()
	p.SetSize(1500, 900)
	p.Open("/instances/" + id + "/chats")
	p.AwaitText("#inbox-log", "Choose a chat")
	mark(p)
	p.ClickText("#inbox-chats a", "Marina")
	p.AwaitText("#inbox-log .text", "Tem pão de queijo?")
	p.AwaitText("#inbox-about", "+"+customerNumber)
	p.Await(`#inbox-chats a[aria-current] .unread`)

	p.Fill(inboxField, "Tem sim!")
	w.Phones.AwaitActivity(t, customerNumber, "chatstate", "composing")
	p.Press("\r")
	p.AwaitText("#inbox-log .mine .text", "Tem sim!")
	p.AwaitGone(`#inbox-chats a[aria-current] .unread`) // who answers has read
	p.Click(`#inbox-log li:not(.mine) [data-reply]`)
	p.AwaitText("#inbox-write [data-quoted-line]", "Tem pão de queijo?")
	p.Fill(inboxField, "Quantos?")
	p.Click("#inbox-write [type=submit]")
	p.AwaitText("#inbox-log .mine blockquote", "Tem pão de queijo?")
	if got := w.answered(t, "the answer", func(m content.Shown) bool { return m.Text == "Quantos?" }); got.QuotedMessageID != question {
		t.Errorf("it answers %q, not %q", got.QuotedMessageID, question)
	}

	p.Upload("#inbox-write [name=file]", sample(t, "photo.png", "fornada.png"), sample(t, "invoice.pdf", "nota.pdf"))
	p.AwaitText("#inbox-write [data-attached-name]", "fornada.png, nota.pdf")
	p.Fill(inboxField, "A foto e a nota")
	p.Click("#inbox-write [type=submit]")
	p.AwaitText("#inbox-log .document", "nota.pdf")
	if got := w.answered(t, "the picture", func(m content.Shown) bool { return m.Type == "image" }); got.Caption != "A foto e a nota" {
		t.Errorf("the picture has the caption %q", got.Caption)
	}
	w.answered(t, "the document", func(m content.Shown) bool { return m.FileName == "nota.pdf" && m.Caption == "" })

	p.Click("#inbox-write [data-record]")
	p.AwaitTrue("it records", `document.querySelector("[data-recorded]").textContent === "0:01"`)
	p.Click("#inbox-write [type=submit]")
	p.AwaitTrue("the voice message", `document.querySelector("#inbox-log .mine audio") !== null`)
	w.answered(t, "the voice message", func(m content.Shown) bool { return m.Type == "voice" })

	more := func(text string) {
		t.Helper()
		p.Eval(fmt.Sprintf(`[...document.querySelectorAll("#inbox-log li")].find((li) => li.querySelector(".text")?.textContent === %q).querySelector("[data-dialog]").click()`, text), nil)
		p.Await("#dialog[open] .emojis")
		settled(p)
	}
	more("Tem pão de queijo?")
	p.ClickText("#dialog .emojis button", "👍")
	p.AwaitText("#inbox-log .reactions", "👍")
	more("Tem sim!")
	p.Fill("#dialog textarea", "Tem sim, quentinho!")
	p.ClickText("#dialog button", "Edit")
	p.AwaitText("#inbox-log .mine .text", "Tem sim, quentinho!")
	more("Tem sim, quentinho!")
	p.Fill("#dialog [name=to]", other)
	p.ClickText("#dialog button", "Forward")
	p.AwaitText("#inbox-chats li:first-child", "quentinho")
	more("Quantos?")
	p.ClickText("#dialog button", "Delete for everyone")
	p.AwaitText("#inbox-log", "This message was deleted")
	w.answered(t, "the deletion", func(m content.Shown) bool { return m.Deleted })
	stays(t, p)
}

// What happens in a chat is on the open page: who types, calls, what others do with messages. It is
// found by a search, and on a telephone the list and the chat are one at a time.
func TestChatIsLive(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{})
	id := w.Link(t, shopNumber)
	w.Phones.Update(t, customerNumber, map[string]any{"name": "Marina"})
	w.Phones.AwaitMessage(t, shopNumber, w.Phones.SendText(t, customerNumber, shopNumber, "Tem broa?"))
	p := w.owner()
	p.SetSize(390, 800)
	p.Open("/instances/" + id + "/chats")
	mark(p)
	p.ClickText("#inbox-chats a", "Marina")
	p.AwaitText("#inbox-log .text", "Tem broa?")
	p.AwaitTrue("the list is away", `document.querySelector("#inbox > .list").offsetHeight === 0`)
	w.Phones.Presence(t, customerNumber, shopNumber, "composing")
	p.AwaitText("#inbox-head", "is typing…")
	p.Eval(`void (document.querySelector("[data-lasts]").dataset.lasts = "0")`, nil)
	p.AwaitText("#inbox-head", "+"+customerNumber)
	p.Fill(inboxField, "Uma parte da resposta")
	answer := w.Phones.SendText(t, customerNumber, shopNumber, "E café?")
	p.AwaitText("#inbox-log .text", "E café?")
	p.AwaitTrue("what is being written stays", `document.querySelector("`+inboxField+`").value === "Uma parte da resposta"`)
	w.Phones.React(t, customerNumber, answer, "🙏")
	p.AwaitText("#inbox-log .reactions", "🙏")
	w.Phones.EndCall(t, customerNumber, w.Phones.Call(t, customerNumber, shopNumber, false), "hangup")
	p.AwaitText("#inbox-log .between", "Marina")

	settled(p)
	p.Click(".about-opener")
	p.Fill("#find", "broa")
	p.Press("\r")
	p.AwaitText("#inbox-log", "One message found")
	settled(p)
	p.ClickText(".found a", "Tem broa?")
	p.AwaitText("#inbox-log .words", "Tem broa?")
	settled(p)
	p.ClickText("#inbox-log a", "Newest messages")
	p.AwaitText("#inbox-log .text", "E café?")
	settled(p)
	p.Click("#inbox-head .back a")
	p.AwaitTrue("the list is back", `document.querySelector("#inbox > .list").offsetHeight > 0`)

	settled(p)
	p.Fill("#search", "BROA") // which nobody is called
	p.AwaitText("#inbox-hits mark", "broa")
	p.AwaitTrue("nothing is wider than the page", `document.documentElement.scrollWidth <= innerWidth`)
	settled(p)
	p.ClickText("#inbox-hits a", "Tem broa?")
	p.AwaitText("#inbox-log .text", "Tem broa?")
	p.AwaitTrue("the search stays", `document.querySelector("#search").value === "BROA"`)
	stays(t, p)
}

// Older messages come as somebody scrolls, also where nothing else happens. What the reader looks at
// stays where it is when new ones come.
func TestChatIsScrolled(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{})
	id := w.Link(t, shopNumber)
	for n := range 70 {
		w.Phones.SendText(t, customerNumber, shopNumber, fmt.Sprintf("Mensagem %d.", n))
	}
	p := w.owner()
	p.SetSize(1000, 700)
	p.Open("/instances/" + id + "/chats?chat=" + customerNumber + "@s.whatsapp.net")
	p.AwaitText("#inbox-log .text", "Mensagem 69.")
	if n := p.Count("#inbox-thread .words"); n != 25 {
		t.Errorf("%d messages are shown at first, want 25", n)
	}
	toTop := func() { p.Eval(`void (document.querySelector(".thread").scrollTop = -1e6)`, nil) }
	toTop()
	p.AwaitTrue("50 messages", `document.querySelectorAll("#inbox-thread .words").length === 50`)
	toTop()
	p.AwaitTrue("all messages", `document.querySelectorAll("#inbox-thread .words").length === 70`)
	toTop()
	p.AwaitTrue("the day", `document.querySelector("#inbox-thread [data-day]").hidden === false`)
	const where = `[...document.querySelectorAll(".words")].find((e) => e.textContent.includes("Mensagem 5.")).getBoundingClientRect().top`
	var before, after float64
	p.Eval(where, &before)
	w.Phones.SendText(t, customerNumber, shopNumber, "Mais uma")
	p.AwaitText("#inbox-log .text", "Mais uma")
	p.Eval(where, &after)
	if math.Abs(before-after) >= 1 { // of a pixel
		t.Errorf("the reader's place has moved from %v to %v", before, after)
	}
	if n := p.Count("#inbox-thread .words"); n != 71 {
		t.Errorf("%d messages are shown, want 71", n)
	}
}

// The first chat of an inbox takes the place of what an empty one says, and leads to itself; the way to the phones, which was there, leads to them.
func TestFirstChatIsOpened(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{})
	id := w.Link(t, shopNumber)
	w.Phones.Get(t, customerNumber)
	p := w.owner()
	p.Open("/instances/" + id + "/chats")
	p.ClickText("#inbox-chats a", "To the phones")
	p.AwaitText("#left", "+")
	p.Open("/instances/" + id + "/chats")
	p.AwaitText("#inbox-chats", "No messages yet")
	w.Phones.SendText(t, customerNumber, shopNumber, "Tem pão de queijo?")
	p.Click(`#inbox-chats [id^="c-"] a`)
	p.AwaitText("#inbox-log .text", "Tem pão de queijo?")
}

// Somebody with a telephone alone makes an instance and links it, answers a customer with a picture and
// a voice message, sees that a delivery failed, mends the address, and has the event delivered again.
func TestTelephoneIsEnough(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{})
	sink := testkit.NewSink(t)
	for _, number := range []string{shopNumber, customerNumber} {
		w.Phones.Get(t, number)
	}
	p := w.owner()
	p.SetSize(390, 844)
	p.Open("/instances")
	p.Click("[data-dialog]")
	p.Fill("dialog[open] [name=name]", "Padaria")
	p.ClickText("dialog[open] button", "Create")
	p.AwaitText("h1", "Padaria")
	id := strings.TrimPrefix(p.Path(), "/instances/")
	p.ClickText("button", "Show QR code")
	p.AwaitTrue("the picture of the code", `document.querySelector(".qr img")?.naturalWidth >= 64`)
	phone := w.stranger()
	phone.SetSize(390, 844)
	phone.Open("/sandbox?left=" + shopNumber)
	phone.ClickText("#left button", "Scan")
	phone.ClickText("dialog[open] .codes button", "Link")
	p.AwaitText("#state", "Connected")

	p.Open("/instances/" + id + "/webhook")
	p.Fill("#url", "http://127.0.0.1:1/recado") // where nobody listens
	p.ClickText("form button", "Save")
	p.AwaitText("#delivery", "Delivering")
	w.Phones.SendText(t, customerNumber, shopNumber, "Tem pão de queijo?")

	p.Open("/instances/" + id + "/chats")
	p.Click(`#inbox-chats [id^="c-"] a`)
	p.AwaitText("#inbox-log .text", "Tem pão de queijo?")
	p.Upload("#inbox-write [name=file]", sample(t, "photo.png", "fornada.png"))
	p.Fill(inboxField, "Saiu agora!")
	p.Click("#inbox-write [type=submit]")
	p.AwaitTrue("the picture", `document.querySelector("#inbox-log .mine .picture") !== null`)
	settled(p)
	p.Click("#inbox-write [data-record]")
	p.AwaitTrue("it records", `document.querySelector("[data-recorded]").textContent === "0:01"`)
	p.Click("#inbox-write [type=submit]")
	w.answered(t, "the voice message", func(m content.Shown) bool { return m.Type == "voice" })

	p.Open("/instances/" + id + "/webhook/deliveries")
	awaitRow(p, "Failed", "refused")
	p.Open("/instances/" + id + "/webhook")
	p.Fill("#url", sink.URL)
	mark(p)
	p.ClickText("form button", "Save")
	p.AwaitTrue("the saved webhook", `window.marked === undefined && document.querySelector("#url")?.value === "`+sink.URL+`"`)
	p.Open("/instances/" + id + "/webhook/deliveries")
	asked := func(taken []testkit.Delivered) (n int) {
		for _, d := range taken {
			if strings.Contains(string(d.Body), "Tem pão de queijo?") {
				n++
			}
		}
		return n
	}
	sink.Await("the question", func(taken []testkit.Delivered) bool { return asked(taken) == 1 })
	p.AwaitText(".head", "Delivering")
	settled(p)
	p.ClickText(".head button", "Replay")
	p.Choose("dialog[open] #from", "1")
	p.ClickText("dialog[open] button", "Replay")
	sink.Await("the replay", func(taken []testkit.Delivered) bool { return asked(taken) == 2 })
}
