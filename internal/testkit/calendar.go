// Calendar events on the phones of the sandbox.

package testkit

import (
	"net/http"
	"testing"
)

// CalendarEvent is a calendar event as a phone shows it.
type CalendarEvent struct {
	Description        string      `json:"description"`
	Start              string      `json:"start"`
	End                string      `json:"end"`
	Location           *EventPlace `json:"location"`
	JoinLink           string      `json:"joinLink"`
	Cancelled          bool        `json:"cancelled"`
	ExtraGuestsAllowed bool        `json:"extraGuestsAllowed"`
}

// EventPlace is where a calendar event takes place.
type EventPlace struct {
	Name      string   `json:"name"`
	Address   string   `json:"address"`
	Latitude  *float64 `json:"latitude"`
	Longitude *float64 `json:"longitude"`
}

// EventResponse is somebody's response to a calendar event.
type EventResponse struct {
	From        string `json:"from"`
	Response    string `json:"response"`
	ExtraGuests int    `json:"extraGuests"`
}

// Respond lets a phone respond to a calendar event that it shows: going, not_going or maybe.
func (p *Phones) Respond(tb testing.TB, number, messageID, response string, extraGuests int) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/messages/"+messageID+"/response",
		map[string]any{"response": response, "extraGuests": extraGuests}, nil)
}

// CancelEvent lets a phone cancel a calendar event that it has sent.
func (p *Phones) CancelEvent(tb testing.TB, number, messageID string) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/messages/"+messageID+"/cancel", nil, nil)
}
