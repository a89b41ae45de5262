// Package phones calls the control API of a sandbox, so that a test can hold its phones. It
// needs only the sandbox's types, not the program. Only tests import it.
package phones

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"testing"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/testkit/await"
)

// API calls the control API of a sandbox. What is refused fails the test. The sandbox
// declares the types of the answers, in the room that makes each.
type API struct {
	baseURL string
}

// New makes the caller of the sandbox at baseURL.
func New(baseURL string) *API { return &API{baseURL: baseURL + "/sandbox/api"} }

// call sends a request and returns the body of the answer. in is nil for none.
func (p *API) call(tb testing.TB, method, path string, in map[string]any) []byte {
	tb.Helper()
	var body bytes.Buffer
	if in != nil {
		if err := json.NewEncoder(&body).Encode(in); err != nil {
			tb.Fatal(err)
		}
	}
	request, err := http.NewRequestWithContext(context.WithoutCancel(tb.Context()), method, p.baseURL+path, &body)
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
func ask[T any](tb testing.TB, p *API, method, path string, in map[string]any) (answer T) {
	tb.Helper()
	if err := json.Unmarshal(p.call(tb, method, path, in), &answer); err != nil {
		tb.Fatal(err)
	}
	return answer
}

// list gets a list.
func list[T any](tb testing.TB, p *API, path string) []T {
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

// Get returns a phone, and creates it if it does not exist.
func (p *API) Get(tb testing.TB, number string) account.Phone {
	tb.Helper()
	return ask[account.Phone](tb, p, http.MethodGet, "/phones/"+number, nil)
}

// Update changes the properties of a phone.
func (p *API) Update(tb testing.TB, number string, change map[string]any) {
	tb.Helper()
	p.call(tb, http.MethodPut, "/phones/"+number, change)
}

// Scan scans the code of an instance.
func (p *API) Scan(tb testing.TB, number, code string) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/scan", map[string]any{"qrCode": code})
}

// EnterPairingCode types the characters that an instance shows.
func (p *API) EnterPairingCode(tb testing.TB, number, code string) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/pairing-code", map[string]any{"code": code})
}

// AnswerPasskey signs a request, as an instance shows it, with the phone's own passkey on
// a page, and returns the assertion.
func (p *API) AnswerPasskey(tb testing.TB, number string, request json.RawMessage, page string) (assertion json.RawMessage) {
	tb.Helper()
	return p.call(tb, http.MethodPost, "/phones/"+number+"/passkey/assert", map[string]any{"request": request, "origin": page})
}

// AddPasskey adds a passkey to a phone, which a browser makes of the options on a page at
// origin.
func (p *API) AddPasskey(tb testing.TB, number, origin string, create func(options json.RawMessage) (credential json.RawMessage)) {
	tb.Helper()
	options := p.call(tb, http.MethodPost, "/phones/"+number+"/passkey/options", map[string]any{"origin": origin})
	p.call(tb, http.MethodPost, "/phones/"+number+"/passkey/credentials", map[string]any{"origin": origin, "credential": create(options)})
}

// Do carries out an operation that has no body and no answer: unlink, ban, replace.
func (p *API) Do(tb testing.TB, number, operation string) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/"+operation, map[string]any{})
}

// Presence makes a phone show a presence: available, unavailable, composing,
// recording or paused.
func (p *API) Presence(tb testing.TB, number, to, presence string) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/presence", map[string]any{"to": to, "presence": presence})
}

// Block makes a phone block somebody, or unblock him.
func (p *API) Block(tb testing.TB, number, who string, blocked bool) {
	tb.Helper()
	p.call(tb, putOrDelete(blocked), "/phones/"+number+"/blocks/"+who, nil)
}

// Restrict restricts an account from writing to new contacts; 0 lifts it.
func (p *API) Restrict(tb testing.TB, number string, seconds int) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/restrict", map[string]any{"seconds": seconds})
}

// Call makes a phone call a number or a group, and returns the call's identifier.
func (p *API) Call(tb testing.TB, number, to string, video bool) (callID string) {
	tb.Helper()
	return ask[map[string]string](tb, p, http.MethodPost, "/phones/"+number+"/call", map[string]any{"to": to, "video": video})["callId"]
}

// EndCall makes a phone end a call that rings: hangup, timeout, answer or reject.
func (p *API) EndCall(tb testing.TB, number, callID, how string) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/calls/"+callID+"/end", map[string]any{"how": how})
}

// SetHistory sets what a phone hands over besides its messages (control API, history).
func (p *API) SetHistory(tb testing.TB, number string, history map[string]any) {
	tb.Helper()
	p.call(tb, http.MethodPut, "/phones/"+number+"/history", history)
}

// Activity returns what a phone saw besides messages.
func (p *API) Activity(tb testing.TB, number string) []account.Activity {
	tb.Helper()
	return list[account.Activity](tb, p, "/phones/"+number+"/activity")
}

// AwaitActivity waits until a phone has seen something of that type and value.
func (p *API) AwaitActivity(tb testing.TB, number, kind, value string) {
	tb.Helper()
	await.Until(tb, kind+" "+value+" on the phone", func() bool {
		return slices.ContainsFunc(p.Activity(tb, number), func(a account.Activity) bool { return a.Type == kind && a.Value == value })
	})
}

// Faults sets the faults of the platform; an empty map ends all of them.
func (p *API) Faults(tb testing.TB, faults map[string]any) {
	tb.Helper()
	p.call(tb, http.MethodPut, "/faults", faults)
}

// Disconnect cuts the connections of a number's devices, or of all devices for "".
func (p *API) Disconnect(tb testing.TB, number string) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/faults/disconnect", map[string]any{"number": number})
}
