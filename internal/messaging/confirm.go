package messaging

import (
	"fmt"
	"strconv"
	"time"

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
	switch sent.Kind {
	case gateway.ChangeReaction:
		change.Reaction = sent.Text
	case gateway.ChangePin:
		seconds, err := strconv.ParseInt(sent.Text, 10, 64)
		if err != nil {
			return gateway.Message{}, nil, fmt.Errorf("messaging: read how long a pin lasts: %w", err)
		}
		change.For = time.Duration(seconds) * time.Second
	default:
		change.Text = sent.Text
	}
	if sent.Kind == gateway.ChangeCancelled {
		change.Kind, change.Text = gateway.ChangeEdited, message.Text // as others see it
		if message.DeletedAt.IsZero() {
			payload, event, err := r.encoder.EncodeCancelled(message.Payload)
			if err != nil {
				return gateway.Message{}, nil, fmt.Errorf("messaging: cancel a calendar event: %w", err)
			}
			change.Payload, change.Event = payload, &event
		}
	}
	change.Type = message.Type
	event, err := changeEvent(message.InstanceID, change, &message)
	if err != nil {
		return gateway.Message{}, nil, err
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
	switch change.Kind {
	case gateway.ChangeDeleted:
		message.Text, message.Payload, message.Menu, message.DeletedAt, message.PinnedUntil = "", nil, gateway.Menu{}, change.At, time.Time{}
		message.Starred = false
	case gateway.ChangePin:
		message.PinnedUntil = pinnedUntil(change)
	default:
		message.Type, message.Text, message.Payload, message.EditedAt = change.Type, change.Text, change.Payload, change.At
	}
	return []gateway.Message{message}
}

// pinnedUntil is until when a message is pinned by a change; zero: it is not.
func pinnedUntil(change gateway.Change) time.Time {
	if change.For == 0 {
		return time.Time{}
	}
	return change.At.Add(change.For)
}
