package client

import (
	"encoding/json"
	"fmt"
	"time"
)

// The types of events. A newer gateway may tell others: pass over what you do
// not know.
const (
	TypeInstanceStatus     = "instance.status"
	TypeInstanceQR         = "instance.qr"
	TypeInstanceRestricted = "instance.restricted"
	TypeMessageReceived    = "message.received"
	TypeMessageSent        = "message.sent"
	TypeMessageStatus      = "message.status"
	TypeMessageEdited      = "message.edited"
	TypeMessageDeleted     = "message.deleted"
	TypeMessageReaction    = "message.reaction"
	TypePresence           = "presence"
	TypeGroupUpdated       = "group.updated"
	TypeContactUpdated     = "contact.updated"
	TypeCallReceived       = "call.received"
	TypeWebhookSuspended   = "instance.webhook_suspended"
	TypeEventsExpired      = "events.expired"
	TypeWebhookTest        = "webhook.test"
)

// Event is what webhooks and streams carry.
type Event struct {
	ID         string          `json:"id"`   // the same on every delivery
	Type       string          `json:"type"` // one of the types above
	Timestamp  time.Time       `json:"timestamp"`
	InstanceID string          `json:"instanceId"`
	Sequence   int64           `json:"sequence"` // without a gap in an instance
	Data       json.RawMessage `json:"data"`     // Decode gives it its Go type
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

func decoders() map[string]func(json.RawMessage) (any, error) {
	return map[string]func(json.RawMessage) (any, error){
		TypeInstanceStatus:     decoded[InstanceStatusEvent],
		TypeInstanceQR:         decoded[InstanceQREvent],
		TypeInstanceRestricted: decoded[InstanceRestrictedEvent],
		TypeMessageReceived:    decoded[MessageReceivedEvent],
		TypeMessageSent:        decoded[MessageSentEvent],
		TypeMessageStatus:      decoded[MessageStatusEvent],
		TypeMessageEdited:      decoded[MessageEditedEvent],
		TypeMessageDeleted:     decoded[MessageDeletedEvent],
		TypeMessageReaction:    decoded[MessageReactionEvent],
		TypePresence:           decoded[PresenceEvent],
		TypeGroupUpdated:       decoded[GroupUpdatedEvent],
		TypeContactUpdated:     decoded[ContactUpdatedEvent],
		TypeCallReceived:       decoded[CallReceivedEvent],
		TypeWebhookSuspended:   decoded[WebhookSuspendedEvent],
		TypeEventsExpired:      decoded[EventsExpiredEvent],
		TypeWebhookTest:        decoded[WebhookTestEvent],
	}
}

func decoded[T any](data json.RawMessage) (any, error) {
	var value T
	err := json.Unmarshal(data, &value)
	return value, err
}
