package messaging

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

// receivedEvent tells of a message that has arrived: from somebody else, or from
// another device of this account.
func receivedEvent(message gateway.Message) (eventlog.Event, error) {
	told := eventlog.NewMessage(message, message.Details)
	var data eventlog.Data = eventlog.MessageReceived{Message: told}
	if message.FromMe {
		data = eventlog.MessageSent{Message: told, Source: string(gateway.SourceDevice)}
	}
	return eventlog.NewEvent(message.InstanceID, message.Chat.Key(), "message/"+message.WireKey, message.SentAt, data)
}

// reporter makes the events of messages that we sent.
type reporter struct {
	encoder gateway.Encoder
}

// descriptions are what the payloads of messages hold, by the messages' ids. To read
// one may take a look at another database, which must not be done in a transaction
// that others wait for: what lacks is noted, and read before the next try.
type descriptions struct {
	known   map[string]gateway.Details
	lacking []gateway.Message
}

// errLacking says that a description lacks.
var errLacking = errors.New("messaging: a message is not described yet")

// describing runs a transaction, and again where it lacks the description of a
// message. Of the messages that are given, it has them from the start.
func (r *reporter) describing(ctx context.Context, run func(d *descriptions) error, messages ...gateway.Message) error {
	d := &descriptions{known: map[string]gateway.Details{}, lacking: messages}
	for {
		for _, message := range d.lacking {
			details, err := r.encoder.Describe(ctx, message.Payload)
			if err != nil {
				return fmt.Errorf("messaging: describe message: %w", err)
			}
			d.known[message.ID] = details
		}
		d.lacking = nil
		if err := run(d); !errors.Is(err, errLacking) {
			return err
		}
	}
}

// sentEvent tells of a message of ours that the platform has. Its error is errLacking
// where its description lacks.
func (r *reporter) sentEvent(message gateway.Message, d *descriptions) (eventlog.Event, error) {
	details, known := d.known[message.ID]
	if !known {
		d.lacking = append(d.lacking, message)
		return eventlog.Event{}, errLacking
	}
	return eventlog.NewEvent(message.InstanceID, message.Chat.Key(), "sent/"+message.ID, message.SentAt,
		eventlog.MessageSent{Message: eventlog.NewMessage(message, details), Source: string(message.Source)})
}

// statusEvent tells that a message came to its status. participant is nobody
// outside of groups.
func statusEvent(message gateway.Message, participant gateway.Party) (eventlog.Event, error) {
	data := eventlog.MessageStatus{
		MessageID: message.PlatformID, Chat: eventlog.NewChat(message.Chat), Status: message.Status.String(),
		Participant: eventlog.NewPerson(participant), Timestamp: eventlog.Time(message.StatusAt),
	}
	subject := message.PlatformID
	if message.ID != "" {
		data.ID = &message.ID
		subject = message.ID
	}
	key := "status/" + subject + "/" + message.Status.String() + "/" + string(participant.Key())
	return eventlog.NewEvent(message.InstanceID, message.Chat.Key(), key, message.StatusAt, data)
}

// changeEvent tells what somebody did to a message.
func changeEvent(instanceID string, change gateway.Change) (eventlog.Event, error) {
	chat, from := eventlog.NewChat(change.Chat), eventlog.NewPerson(change.By)
	var data eventlog.Data
	switch change.Kind {
	case gateway.ChangeEdited:
		data = eventlog.MessageEdited{MessageID: change.PlatformID, Chat: chat, From: from, Text: change.Text}
	case gateway.ChangeDeleted:
		data = eventlog.MessageDeleted{MessageID: change.PlatformID, Chat: chat, From: from}
	case gateway.ChangeReaction:
		data = eventlog.MessageReaction{MessageID: change.PlatformID, Chat: chat, From: from, Reaction: change.Reaction}
	}
	return eventlog.NewEvent(instanceID, change.Chat.Key(), change.SourceKey, change.At, data)
}

// advance moves our message on to a status, and tells of it. A message is told
// as sent before anything else: the receipt may be faster than the platform's
// acknowledgement. Nothing is told of a message that is there or further already,
// but of a participant of a group: there everybody's receipt counts.
func (r *reporter) advance(
	message *gateway.Message, to gateway.MessageStatus, participant gateway.Party, at time.Time, d *descriptions,
) ([]eventlog.Event, error) {
	moved := message.Status < to
	if !moved && participant == (gateway.Party{}) {
		return nil, nil
	}
	var events []eventlog.Event
	if message.Status < gateway.MessageSent && message.Source == gateway.SourceAPI {
		event, err := r.sentEvent(*message, d)
		if err != nil {
			return nil, err
		}
		events = append(events, event)
	}
	told := *message
	told.Status, told.StatusAt = to, at
	event, err := statusEvent(told, participant)
	if err != nil {
		return nil, err
	}
	if moved {
		message.Status, message.StatusAt = to, at
	}
	return append(events, event), nil
}

// confirm applies a change of ours that the platform has to its message, and tells
// of it.
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
		return gateway.Message{}, nil, fmt.Errorf("messaging: tell of a change: %w", err)
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
