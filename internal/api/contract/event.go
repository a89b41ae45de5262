// The envelope of an event, for the document.

package contract

import (
	"github.com/recado-project/recado/internal/eventlog"
)

const (
	// EventsTag is the tag of the events in the document.
	EventsTag = "Events"
	// EventStreamType is the content type of a stream of events.
	EventStreamType = "text/event-stream"
)

// Event is the envelope that streams and webhooks carry, for the document.
type Event struct {
	ID         string         `json:"id" format:"uuid" doc:"Identifier of the event: the same on every delivery." example:"019aa1f4-5b0c-7e43-9d1f-6a1f2f6f3b11"`
	Type       string         `json:"type" doc:"Type of the event." example:"message.received"`
	Timestamp  Timestamp      `json:"timestamp" doc:"When the event happened."`
	InstanceID string         `json:"instanceId" format:"uuid" doc:"The instance that the event belongs to."`
	Sequence   int64          `json:"sequence" doc:"Number of the event within its instance; there are no gaps." example:"42"`
	Data       map[string]any `json:"data" doc:"Details of the event; its fields depend on the type."`
}

// MediaLink is the link to a file beside the data of an event, for the document.
type MediaLink struct {
	URL       string    `json:"url" doc:"The link. It needs no API key." example:"https://messages.example.org/media/019aa1f4-1c7f-7a20-8a5e-4be2f7b0a911/019aa1f4-8d52-7c1e-b3a0-0f4de1c9a7b2?expires=1795188130&name=&fetch=true&signature=QXl0aGluZyBlbHNlIGlzIHJlZnVzZWQuLi4uLi4uLi4"`
	ExpiresAt Timestamp `json:"expiresAt" doc:"When it stops working."`
}

// sampleEvent is an event for the document.
func sampleEvent() any {
	jid, lid, name := "5511988887766@s.whatsapp.net", "123456789012345@lid", "Ana"
	return Event{
		ID: "019aa1f4-5b0c-7e43-9d1f-6a1f2f6f3b11", Type: string(eventlog.KindCallReceived), Timestamp: Timestamp(sampleTime()),
		InstanceID: "019aa1f4-1c7f-7a20-8a5e-4be2f7b0a911", Sequence: 42,
		Data: map[string]any{
			"chat": jid, "chatLid": lid, "from": map[string]any{"jid": jid, "lid": lid, "name": name},
			"callId": "A1B2C3D4E5F6", "video": false,
		},
	}
}
