package testkit

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/sandbox/mediahost"
)

// Phones calls the control API of a sandbox. What is refused fails the test. The sandbox
// declares the types of the answers, in the room that makes each.
type Phones struct {
	baseURL string
}

// PhoneMessage is a message as a phone shows it.
type PhoneMessage = content.Shown

// NewPhones makes the caller of the sandbox at baseURL.
func NewPhones(baseURL string) *Phones { return &Phones{baseURL: baseURL + "/sandbox/api"} }

// Get returns a phone, and creates it if it does not exist.
func (p *Phones) Get(tb testing.TB, number string) account.Phone {
	tb.Helper()
	return ask[account.Phone](tb, p, http.MethodGet, "/phones/"+number, nil)
}

// Update changes the properties of a phone.
func (p *Phones) Update(tb testing.TB, number string, change map[string]any) {
	tb.Helper()
	p.call(tb, http.MethodPut, "/phones/"+number, change)
}

// Scan scans the code of an instance.
func (p *Phones) Scan(tb testing.TB, number, code string) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/scan", map[string]any{"qrCode": code})
}

// EnterPairingCode types the characters that an instance shows.
func (p *Phones) EnterPairingCode(tb testing.TB, number, code string) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/pairing-code", map[string]any{"code": code})
}

// AnswerPasskey signs a request, as an instance shows it, with the phone's own passkey on
// a page, and returns the assertion.
func (p *Phones) AnswerPasskey(tb testing.TB, number string, request json.RawMessage, page string) (assertion json.RawMessage) {
	tb.Helper()
	return p.call(tb, http.MethodPost, "/phones/"+number+"/passkey/assert", map[string]any{"request": request, "origin": page})
}

// Do carries out an operation that has no body and no answer: unlink, ban, replace.
func (p *Phones) Do(tb testing.TB, number, operation string) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/"+operation, map[string]any{})
}

// Messages returns the messages of a phone, or those of one chat if chat is not empty.
func (p *Phones) Messages(tb testing.TB, number, chat string) []content.Shown {
	tb.Helper()
	path := "/phones/" + number + "/messages"
	if chat != "" {
		path += "?chat=" + url.QueryEscape(chat)
	}
	return list[content.Shown](tb, p, path)
}

// AwaitMessage waits until a phone has the message and returns it.
func (p *Phones) AwaitMessage(tb testing.TB, number, messageID string) content.Shown {
	tb.Helper()
	var found content.Shown
	Await(tb, "message "+messageID+" on the phone", func() bool {
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

// Has reports whether a phone shows a message.
func (p *Phones) Has(tb testing.TB, number, messageID string) bool {
	tb.Helper()
	return slices.ContainsFunc(p.Messages(tb, number, ""), func(m content.Shown) bool { return m.MessageID == messageID })
}

// SendText makes a phone send a text, and returns its identifier.
func (p *Phones) SendText(tb testing.TB, number, to, text string) (messageID string) {
	tb.Helper()
	return p.Send(tb, number, map[string]any{"to": to, "type": "text", "text": text})
}

// Send makes a phone send a message of any type, and returns its identifier.
func (p *Phones) Send(tb testing.TB, number string, message map[string]any) (messageID string) {
	tb.Helper()
	return ask[map[string]string](tb, p, http.MethodPost, "/phones/"+number+"/messages", message)["messageId"]
}

// SendRaw makes a phone send bytes unchanged, whether they are an encoded waE2E.Message or
// not. more sets attributes of the stanza, as docs/sandbox.md describes: id, idBase64,
// edit, pushName, type, timestamp. It returns the message's identifier.
func (p *Phones) SendRaw(tb testing.TB, number, to string, message []byte, more map[string]any) (messageID string) {
	tb.Helper()
	body := map[string]any{"to": to, "message": message}
	maps.Copy(body, more)
	return ask[map[string]string](tb, p, http.MethodPost, "/phones/"+number+"/raw", body)["messageId"]
}

// SendRawReceipt makes a phone send a receipt for any messages: to (a number), chat (a
// group's), messageIds, type.
func (p *Phones) SendRawReceipt(tb testing.TB, number string, receipt map[string]any) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/raw-receipt", receipt)
}

// Upload uploads a file, given as a data URI, to the platform's media host, for a raw
// message that refers to it. kind is the type of that message, or history.
func (p *Phones) Upload(tb testing.TB, kind, media string) mediahost.Pointer {
	tb.Helper()
	return ask[mediahost.Pointer](tb, p, http.MethodPost, "/media", map[string]any{"type": kind, "media": media})
}

// Edit makes a phone edit a message of its own.
func (p *Phones) Edit(tb testing.TB, number, messageID, text string) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/messages/"+messageID+"/edit", map[string]any{"text": text})
}

// Delete makes a phone delete a message of its own for everyone.
func (p *Phones) Delete(tb testing.TB, number, messageID string) {
	tb.Helper()
	p.call(tb, http.MethodDelete, "/phones/"+number+"/messages/"+messageID, nil)
}

// Pin makes a phone pin a message for some seconds, or unpin it (0).
func (p *Phones) Pin(tb testing.TB, number, messageID string, seconds int) {
	tb.Helper()
	p.call(tb, http.MethodPut, "/phones/"+number+"/messages/"+messageID+"/pin", map[string]any{"seconds": seconds})
}

// Star makes the owner of a phone star a message, or take the star away.
func (p *Phones) Star(tb testing.TB, number, messageID string, starred bool) {
	tb.Helper()
	p.call(tb, http.MethodPut, "/phones/"+number+"/messages/"+messageID+"/star", map[string]any{"starred": starred})
}

// DeleteForMe makes the owner of a phone delete a message from the account's own devices.
func (p *Phones) DeleteForMe(tb testing.TB, number, messageID string) {
	tb.Helper()
	p.call(tb, http.MethodDelete, "/phones/"+number+"/messages/"+messageID+"/for-me", nil)
}

// Call makes a phone call a number or a group, and returns the call's identifier.
func (p *Phones) Call(tb testing.TB, number, to string, video bool) (callID string) {
	tb.Helper()
	return ask[map[string]string](tb, p, http.MethodPost, "/phones/"+number+"/call", map[string]any{"to": to, "video": video})["callId"]
}

// Block makes a phone block somebody, or unblock him.
func (p *Phones) Block(tb testing.TB, number, who string, blocked bool) {
	tb.Helper()
	p.call(tb, putOrDelete(blocked), "/phones/"+number+"/blocks/"+who, nil)
}

// EndCall makes a phone end a call that rings: hangup, timeout, answer or reject.
func (p *Phones) EndCall(tb testing.TB, number, callID, how string) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/calls/"+callID+"/end", map[string]any{"how": how})
}

// SetHistory sets what a phone hands over besides its messages (control API, history).
func (p *Phones) SetHistory(tb testing.TB, number string, history map[string]any) {
	tb.Helper()
	p.call(tb, http.MethodPut, "/phones/"+number+"/history", history)
}

// Presence makes a phone show a presence: available, unavailable, composing,
// recording or paused.
func (p *Phones) Presence(tb testing.TB, number, to, presence string) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/presence", map[string]any{"to": to, "presence": presence})
}

// React makes a phone react to a message. An empty reaction removes the last one.
func (p *Phones) React(tb testing.TB, number, messageID, reaction string) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/messages/"+messageID+"/reaction", map[string]any{"reaction": reaction})
}

// Vote lets a phone vote in a poll that it shows; without options it takes its vote back.
func (p *Phones) Vote(tb testing.TB, number, messageID string, options ...string) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/messages/"+messageID+"/vote", map[string]any{"options": append([]string{}, options...)})
}

// Restrict restricts an account from writing to new contacts; 0 lifts it.
func (p *Phones) Restrict(tb testing.TB, number string, seconds int) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/restrict", map[string]any{"seconds": seconds})
}

// DropMedia makes the platform's media host forget the file of a message.
func (p *Phones) DropMedia(tb testing.TB, number, messageID string) {
	tb.Helper()
	p.call(tb, http.MethodDelete, "/phones/"+number+"/messages/"+messageID+"/media", nil)
}

// Activity returns what a phone saw besides messages.
func (p *Phones) Activity(tb testing.TB, number string) []account.Activity {
	tb.Helper()
	return list[account.Activity](tb, p, "/phones/"+number+"/activity")
}

// AwaitActivity waits until a phone has seen something of that type and value.
func (p *Phones) AwaitActivity(tb testing.TB, number, kind, value string) {
	tb.Helper()
	Await(tb, kind+" "+value+" on the phone", func() bool {
		return slices.ContainsFunc(p.Activity(tb, number), func(a account.Activity) bool { return a.Type == kind && a.Value == value })
	})
}

// Faults sets the faults of the platform; an empty map ends all of them.
func (p *Phones) Faults(tb testing.TB, faults map[string]any) {
	tb.Helper()
	p.call(tb, http.MethodPut, "/faults", faults)
}

// Disconnect cuts the connections of a number's devices, or of all devices for "".
func (p *Phones) Disconnect(tb testing.TB, number string) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/faults/disconnect", map[string]any{"number": number})
}

// call sends a request and returns the body of the answer. in is nil for none.
func (p *Phones) call(tb testing.TB, method, path string, in map[string]any) []byte {
	tb.Helper()
	var body bytes.Buffer
	if in != nil {
		if err := json.NewEncoder(&body).Encode(in); err != nil {
			tb.Fatal(err)
		}
	}
	request, err := http.NewRequestWithContext(tb.Context(), method, p.baseURL+path, &body)
	if err != nil {
		tb.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		tb.Fatal(err)
	}
	if response.StatusCode >= http.StatusBadRequest {
		tb.Fatalf("%s %s answered %d: %s", method, path, response.StatusCode, answer)
	}
	return answer
}

// ask calls and decodes the answer.
func ask[T any](tb testing.TB, p *Phones, method, path string, in map[string]any) (answer T) {
	tb.Helper()
	if err := json.Unmarshal(p.call(tb, method, path, in), &answer); err != nil {
		tb.Fatal(err)
	}
	return answer
}

// list gets a list.
func list[T any](tb testing.TB, p *Phones, path string) []T {
	tb.Helper()
	return ask[map[string][]T](tb, p, http.MethodGet, path, nil)["data"]
}

// putOrDelete is the method that makes something so, or no longer.
func putOrDelete(on bool) string {
	if on {
		return http.MethodPut
	}
	return http.MethodDelete
}

// AddPasskey adds a passkey to a phone, which a browser makes of the options on a page at
// origin.
func (p *Phones) AddPasskey(tb testing.TB, number, origin string, create func(options json.RawMessage) (credential json.RawMessage)) {
	tb.Helper()
	options := p.call(tb, http.MethodPost, "/phones/"+number+"/passkey/options", map[string]any{"origin": origin})
	p.call(tb, http.MethodPost, "/phones/"+number+"/passkey/credentials", map[string]any{"origin": origin, "credential": create(options)})
}
