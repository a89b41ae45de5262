// Messages on their way: the test field, the phone, the events, the endpoint.

package browsertest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/recado-project/recado/e2e/browsertest/browser"
	"github.com/recado-project/recado/internal/testkit"
)

// Every kind of message goes out by the test field and is on the open page of the phone.
func TestEveryKindIsSentAndShown(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{})
	id := w.Link(t, shopNumber)
	w.Phones.Get(t, customerNumber)
	p, phone := w.owner(), w.stranger()
	p.Open("/instances/" + id + "/chats")
	phone.Open(chatOf(customerNumber, shopNumber))
	mark(phone)
	p.Click("[data-dialog=new-message]")
	p.Fill("#to", customerNumber)
	send := func(kind string, fill func()) {
		t.Helper()
		p.Choose("#kind", kind)
		fill()
		p.ClickText("#new-message button", "Send")
	}
	file := func(name, as string) func() {
		return func() { p.Upload("#file", sample(t, name, as)) }
	}
	send("text", func() { p.Fill("#text", "Bom dia! 🥐\nO pão saiu.") })
	phone.AwaitText(".log .text", "Bom dia! 🥐\nO pão saiu.")
	send("image", func() {
		file("photo.png", "photo.png")()
		p.Fill("#caption", "Fornada das 7")
	})
	phone.AwaitText(".log .text", "Fornada das 7")
	phone.AwaitTrue("the picture", `document.querySelector(".log .picture img")?.naturalWidth > 0`)
	send("video", file("clip.mp4", "clip.mp4"))
	phone.AwaitTrue("the video", `document.querySelector(".log video")?.readyState > 0`)
	send("voice", file("voice.ogg", "voice.ogg"))
	phone.AwaitTrue("the voice note", `document.querySelector(".log audio[data-played]")?.readyState > 0`)
	send("audio", file("tone.mp3", "tone.mp3"))
	phone.AwaitTrue("the sound", `document.querySelector(".log audio:not([data-played])")?.readyState > 0`)
	send("document", file("invoice.pdf", "nota fiscal.pdf"))
	phone.AwaitText(".log .document", "nota fiscal.pdf")
	send("sticker", file("sticker.webp", "sticker.webp"))
	phone.AwaitTrue("the sticker", `document.querySelector(".log img.sticker")?.naturalWidth > 0`)
	send("location", func() {
		p.Fill("#latitude", "-23,561414")
		p.Fill("#longitude", "-46.655881")
		p.Fill("#place", "MASP")
	})
	phone.AwaitText(".log .map", "MASP")
	send("contact", func() {
		p.Fill("#cards", "Ana Lima, +55 11 98888-7766\nLima, Bruno, 5511977776655")
	})
	phone.AwaitText(".log .contact", "Ana Lima")
	phone.AwaitText(".log .contact + .contact", "Lima, Bruno")
	stays(t, phone)
	if n := phone.Count(".log .words"); n != 9 {
		t.Errorf("the phone shows %d messages, want 9", n)
	}

	// The chat has them all too, with the files.
	p.Open("/instances/" + id + "/chats?chat=" + customerNumber + "@s.whatsapp.net")
	for _, want := range []string{"Fornada das 7", "nota fiscal.pdf", "MASP", "Ana Lima"} {
		p.AwaitText("#inbox-log", want)
	}
	// The newest is at the end, so that the picture is fetched when somebody scrolls up.
	p.Eval(`document.querySelector("#inbox-log .picture img").scrollIntoView()`, nil)
	p.AwaitTrue("the picture in the chat", `document.querySelector("#inbox-log .picture img").naturalWidth > 0`)
}

// An answer that somebody writes on the phone is among the events at once, and delivered.
// What an endpoint fails to take is seen, and delivered again once it is mended.
func TestAnswerIsDeliveredAgain(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{})
	id := w.Link(t, shopNumber)
	w.Phones.Get(t, customerNumber)
	sink := testkit.NewSink(t)
	p := w.owner()
	p.Open("/instances/" + id + "/webhook")
	p.AwaitText("h2", "No webhook yet")
	p.Fill("#url", sink.URL)
	p.ClickText("form button", "Save")
	p.AwaitText("#delivery", "Delivering")
	p.ClickText("button", "Send a test event")
	p.AwaitText("#tested", "The endpoint answered 204")

	events, phone := p.Beside(), w.stranger()
	events.Open("/instances/" + id + "/events")
	events.AwaitText(".head", "Live")
	mark(events)
	deliveries := p
	deliveries.Open("/instances/" + id + "/webhook/deliveries")
	mark(deliveries)
	phone.Open(chatOf(customerNumber, shopNumber))
	answer := func(text string) {
		t.Helper()
		phone.Fill("#left-write textarea", text)
		phone.Press("\r")
		phone.AwaitText(".log .mine .text", text)
	}
	answer("Ainda tem pão de queijo?")
	events.AwaitText(".events", "message.received")
	awaitRow(deliveries, "message.received", "Delivered", "204")
	events.ClickText(".events summary", "message.received")
	events.AwaitText(".events pre", "Ainda tem pão de queijo?")
	stays(t, events)

	sink.Answer(func(testkit.Delivered) int { return http.StatusInternalServerError })
	answer("E broa?")
	awaitRow(deliveries, "Failed", "500") // of the first event, which the others wait for
	deliveries.AwaitText(".head", "Waiting")

	sink.Answer(func(testkit.Delivered) int { return http.StatusNoContent })
	deliveries.ClickText(".head button", "Resume")
	broa := func(taken []testkit.Delivered) (n int) {
		for _, d := range taken {
			if strings.Contains(string(d.Body), "E broa?") {
				n++
			}
		}
		return n
	}
	sink.Await("the event that failed", func(taken []testkit.Delivered) bool { return broa(taken) == 1 })
	deliveries.AwaitText(".head", "Delivering")

	deliveries.ClickText(".head button", "Replay")
	deliveries.Choose("dialog[open] #from", "1")
	deliveries.ClickText("dialog[open] button", "Replay")
	deliveries.AwaitText(".toast", "Resending")
	deliveries.AwaitGone("dialog[open]")
	sink.Await("the replay", func(taken []testkit.Delivered) bool { return broa(taken) == 2 })
	awaitRow(deliveries, "message.received", "Delivered", "204")
	stays(t, deliveries)
}

// awaitRow waits until a row of the table has all the texts.
func awaitRow(p *browser.Page, texts ...string) {
	condition := make([]string, len(texts))
	for n, text := range texts {
		condition[n] = `row.innerText.includes("` + text + `")`
	}
	p.AwaitTrue("a row with "+strings.Join(texts, ", "), `[...document.querySelectorAll("tbody tr")].some((row) => `+strings.Join(condition, " && ")+`)`)
}
