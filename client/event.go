package client

import (
	"encoding/json"
	"fmt"
	"time"
)

// Event is what webhooks and streams carry.
type Event struct {
	ID         string          `json:"id"`   // the same on every delivery
	Type       string          `json:"type"` // one of the types above
	Timestamp  time.Time       `json:"timestamp"`
	InstanceID string          `json:"instanceId"`
	Sequence   int64           `json:"sequence"` // without a gap in an instance
	Data       json.RawMessage `json:"data"`     // Decode gives it its Go type
	// MediaLink leads to the file of the message; nil if there is none, or the webhook has
	// no media links.
	MediaLink *EventMediaLink `json:"mediaLink,omitempty"`
}

// EventMediaLink is a link to a file, which needs no API key.
type EventMediaLink struct {
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// Decode returns the data as the type that belongs to the event, for a switch:
//
//	switch data := data.(type) {
//	case client.MessageReceivedEvent:
//		fmt.Println(data.From.Name, data.Text)
//	}
//
// Data of a type that this package does not know comes back as it is, a
// json.RawMessage.
func (e Event) Decode() (any, error) {
	decode := decoders()[e.Type]
	if decode == nil {
		return e.Data, nil
	}
	data, err := decode(e.Data)
	if err != nil {
		return nil, fmt.Errorf("decode the data of a %s event: %w", e.Type, err)
	}
	return data, nil
}

func decoded[T any](data json.RawMessage) (any, error) {
	var value T
	err := json.Unmarshal(data, &value)
	return value, err
}
