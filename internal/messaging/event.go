package messaging

import (
	"context"
	"errors"
	"fmt"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

// reporter makes the events of messages and changes that this instance sent.
type reporter struct {
	encoder gateway.Encoder
}

// descriptions are what the payloads of messages hold, by the messages' ids. To describe
// a payload may need another database, which must not be asked in a transaction that
// others wait for. So messages without a description are noted in the transaction, and
// described before the next try.
type descriptions struct {
	known   map[string]gateway.Details
	missing []gateway.Message
}

// errNotDescribed ends a transaction that needs a description.
var errNotDescribed = errors.New("messaging: a message is not described yet")

// describing runs a transaction, and runs it again after the messages were described
// that it has noted as missing. The messages that are given are described before it.
func (r *reporter) describing(ctx context.Context, run func(d *descriptions) error, messages ...gateway.Message) error {
	d := &descriptions{known: map[string]gateway.Details{}, missing: messages}
	for {
		for _, message := range d.missing {
			details, err := r.encoder.Describe(ctx, message.Payload)
			if err != nil {
				return fmt.Errorf("messaging: describe message: %w", err)
			}
			d.known[message.ID] = details
		}
		d.missing = nil
		if err := run(d); !errors.Is(err, errNotDescribed) {
			return err
		}
	}
}

// sentEvent is the event of a message that the platform has. It needs no source key: the
// message's status is written in the same transaction, and only moves forward. Its error is
// errNotDescribed if the description is missing.
func (r *reporter) sentEvent(message gateway.Message, d *descriptions) (eventlog.Event, error) {
	details, known := d.known[message.ID]
	if !known {
		d.missing = append(d.missing, message)
		return eventlog.Event{}, errNotDescribed
	}
	return eventlog.NewEvent(message.InstanceID, message.Chat.Key(), "", message.SentAt,
		eventlog.MessageSent{Message: eventlog.NewMessage(message, details), Source: string(message.Source), ClientData: message.ClientData})
}

// changeEvent is the event of an edit, a deletion, a reaction or a pin. before is the message as it
// was; nil where it is not known.
func changeEvent(instanceID string, change gateway.Change, before *gateway.Message) (eventlog.Event, error) {
	chat, from := eventlog.NewChat(change.Chat), eventlog.NewPerson(change.By)
	var data eventlog.Data
	switch change.Kind {
	case gateway.ChangeEdited, gateway.ChangeCancelled:
		edited := eventlog.MessageEdited{MessageID: change.PlatformID, Chat: chat, From: from, Text: change.Text, Event: eventlog.NewCalendarEvent(change.Event)}
		if before != nil && before.DeletedAt.IsZero() {
			edited.PreviousText = &before.Text
		}
		data = edited
	case gateway.ChangeDeleted:
		data = eventlog.MessageDeleted{MessageID: change.PlatformID, Chat: chat, From: from}
	case gateway.ChangeReaction:
		data = eventlog.MessageReaction{MessageID: change.PlatformID, Chat: chat, From: from, Reaction: change.Reaction}
	case gateway.ChangePin:
		data = eventlog.NewMessagePinned(change.PlatformID, change.Chat, change.By, pinnedUntil(change))
	}
	event, err := eventlog.NewEvent(instanceID, change.Chat.Key(), change.SourceKey, change.At, data)
	if err != nil {
		return event, fmt.Errorf("messaging: make the event of a change: %w", err)
	}
	return event, nil
}
