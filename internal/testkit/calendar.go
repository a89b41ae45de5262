// Calendar events on the phones of the sandbox.

package testkit

import (
	"net/http"
	"testing"
)

// Respond lets a phone respond to a calendar event that it shows: going, not_going or maybe.
func (p *Phones) Respond(tb testing.TB, number, messageID, response string, extraGuests int) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/messages/"+messageID+"/response",
		map[string]any{"response": response, "extraGuests": extraGuests})
}

// CancelEvent lets a phone cancel a calendar event that it has sent.
func (p *Phones) CancelEvent(tb testing.TB, number, messageID string) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/messages/"+messageID+"/cancel", nil)
}
