package messaging

import (
	"fmt"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

// confirm applies a change by this instance, which the platform has, to its message, and
// returns the event of it.
func (r *reporter) confirm(sent gateway.SentChange, message gateway.Message) (gateway.Message, []eventlog.Event, error) {
	change := gateway.Change{
		Kind: sent.Kind, PlatformID: message.PlatformID, Chat: message.Chat, By: sent.By, FromMe: true,
		At: sent.At, SourceKey: "change/" + sent.PlatformID,
	}
	if sent.Kind == gateway.ChangeReaction {
		change.Reaction = sent.Text
	} else {
		change.Text = sent.Text
	}
	event, err := changeEvent(message.InstanceID, change)
	if err != nil {
		return gateway.Message{}, nil, fmt.Errorf("messaging: make the event of a change: %w", err)
	}
	if sent.Kind == gateway.ChangeEdited && message.DeletedAt.IsZero() {
		if change.Payload, err = r.encoder.EncodeEdited(message.Payload, sent.Text); err != nil {
			return gateway.Message{}, nil, fmt.Errorf("messaging: edit message: %w", err)
		}
	}
	if changed := apply(change, message); len(changed) > 0 {
		message = changed[0]
	}
	return message, []eventlog.Event{event}, nil
}

// apply returns the message with the change applied; nothing if the change leaves it
// as it is: a reaction changes no message, and a deleted one stays deleted.
func apply(change gateway.Change, message gateway.Message) []gateway.Message {
	if change.Kind == gateway.ChangeReaction || !message.DeletedAt.IsZero() {
		return nil
	}
	if change.Kind == gateway.ChangeDeleted {
		message.Text, message.Payload, message.DeletedAt = "", nil, change.At
	} else {
		message.Text, message.Payload, message.EditedAt = change.Text, change.Payload, change.At
	}
	return []gateway.Message{message}
}
