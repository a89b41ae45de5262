// Messages, and what phones do with them.

package phones

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/sandbox/mediahost"
	"github.com/recado-project/recado/internal/sandbox/phone"
	"github.com/recado-project/recado/internal/testkit/await"
)

// Messages returns the messages of a phone, or those of one chat if chat is not empty.
func (p *API) Messages(tb testing.TB, number, chat string) []content.Shown {
	tb.Helper()
	path := "/phones/" + number + "/messages"
	if chat != "" {
		path += "?chat=" + url.QueryEscape(chat)
	}
	return list[content.Shown](tb, p, path)
}

// AwaitMessage waits until a phone has the message and returns it.
func (p *API) AwaitMessage(tb testing.TB, number, messageID string) content.Shown {
	tb.Helper()
	var found content.Shown
	await.Until(tb, "message "+messageID+" on the phone", func() bool {
		for _, message := range p.Messages(tb, number, "") {
			if message.MessageID == messageID {
				found = message
				return true
			}
		}
		return false
	})
	return found
}

// Problems returns the messages that do not look right on a phone, without those whose problems all
// contain one of the words.
func (p *API) Problems(tb testing.TB, expected ...string) (unexpected []phone.Troubled) {
	tb.Helper()
	for _, one := range list[phone.Troubled](tb, p, "/problems") {
		if slices.ContainsFunc(one.Problems, func(problem string) bool {
			return !slices.ContainsFunc(expected, func(words string) bool { return strings.Contains(problem, words) })
		}) {
			unexpected = append(unexpected, one)
		}
	}
	return unexpected
}

// Has reports whether a phone shows a message.
func (p *API) Has(tb testing.TB, number, messageID string) bool {
	tb.Helper()
	return slices.ContainsFunc(p.Messages(tb, number, ""), func(m content.Shown) bool { return m.MessageID == messageID })
}

// SendText makes a phone send a text, and returns its identifier.
func (p *API) SendText(tb testing.TB, number, to, text string) (messageID string) {
	tb.Helper()
	return p.Send(tb, number, map[string]any{"to": to, "type": "text", "text": text})
}

// Send makes a phone send a message of any type, and returns its identifier.
func (p *API) Send(tb testing.TB, number string, message map[string]any) (messageID string) {
	tb.Helper()
	return ask[map[string]string](tb, p, http.MethodPost, "/phones/"+number+"/messages", message)["messageId"]
}

// SendRaw makes a phone send bytes unchanged, whether they are an encoded waE2E.Message or
// not. more sets attributes of the stanza, as docs/sandbox.md describes: id, idBase64,
// edit, pushName, type, timestamp. It returns the message's identifier.
func (p *API) SendRaw(tb testing.TB, number, to string, message []byte, more map[string]any) (messageID string) {
	tb.Helper()
	body := map[string]any{"to": to, "message": message}
	maps.Copy(body, more)
	return ask[map[string]string](tb, p, http.MethodPost, "/phones/"+number+"/raw", body)["messageId"]
}

// SendRawReceipt makes a phone send a receipt for any messages: to (a number), chat (a
// group's), messageIds, type.
func (p *API) SendRawReceipt(tb testing.TB, number string, receipt map[string]any) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/raw-receipt", receipt)
}

// Upload uploads a file, given as a data URI, to the platform's media host, for a raw
// message that refers to it. kind is the type of that message, or history.
func (p *API) Upload(tb testing.TB, kind, media string) mediahost.Pointer {
	tb.Helper()
	return ask[mediahost.Pointer](tb, p, http.MethodPost, "/media", map[string]any{"type": kind, "media": media})
}

// Edit makes a phone edit a message of its own.
func (p *API) Edit(tb testing.TB, number, messageID, text string) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/messages/"+messageID+"/edit", map[string]any{"text": text})
}

// Delete makes a phone delete a message of its own for everyone.
func (p *API) Delete(tb testing.TB, number, messageID string) {
	tb.Helper()
	p.call(tb, http.MethodDelete, "/phones/"+number+"/messages/"+messageID, nil)
}

// Pin makes a phone pin a message for some seconds, or unpin it (0).
func (p *API) Pin(tb testing.TB, number, messageID string, seconds int) {
	tb.Helper()
	p.call(tb, http.MethodPut, "/phones/"+number+"/messages/"+messageID+"/pin", map[string]any{"seconds": seconds})
}

// Star makes the owner of a phone star a message, or take the star away.
func (p *API) Star(tb testing.TB, number, messageID string, starred bool) {
	tb.Helper()
	p.call(tb, http.MethodPut, "/phones/"+number+"/messages/"+messageID+"/star", map[string]any{"starred": starred})
}

// DeleteForMe makes the owner of a phone delete a message from the account's own devices.
func (p *API) DeleteForMe(tb testing.TB, number, messageID string) {
	tb.Helper()
	p.call(tb, http.MethodDelete, "/phones/"+number+"/messages/"+messageID+"/for-me", nil)
}

// React makes a phone react to a message. An empty reaction removes the last one.
func (p *API) React(tb testing.TB, number, messageID, reaction string) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/messages/"+messageID+"/reaction", map[string]any{"reaction": reaction})
}

// Vote lets a phone vote in a poll that it shows; without options it takes its vote back.
func (p *API) Vote(tb testing.TB, number, messageID string, options ...string) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/messages/"+messageID+"/vote", map[string]any{"options": append([]string{}, options...)})
}

// DropMedia makes the platform's media host forget the file of a message.
func (p *API) DropMedia(tb testing.TB, number, messageID string) {
	tb.Helper()
	p.call(tb, http.MethodDelete, "/phones/"+number+"/messages/"+messageID+"/media", nil)
}

// Respond lets a phone respond to a calendar event that it shows: going, not_going or maybe.
func (p *API) Respond(tb testing.TB, number, messageID, response string, extraGuests int) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/messages/"+messageID+"/response",
		map[string]any{"response": response, "extraGuests": extraGuests})
}

// CancelEvent lets a phone cancel a calendar event that it has sent.
func (p *API) CancelEvent(tb testing.TB, number, messageID string) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/messages/"+messageID+"/cancel", nil)
}
