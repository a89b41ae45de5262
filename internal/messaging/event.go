package messaging

import (
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

// receivedEvent is the event of a message that has arrived: from somebody else, or from
// another device of this account.
func receivedEvent(message gateway.Message) (eventlog.Event, error) {
	content := eventlog.NewMessage(message, message.Details)
	var data eventlog.Data = eventlog.MessageReceived{Message: content}
	if message.FromMe {
		data = eventlog.MessageSent{Message: content, Source: string(gateway.SourceDevice)}
	}
	return eventlog.NewEvent(message.InstanceID, message.Chat.Key(), "message/"+message.WireKey, message.SentAt, data)
}

// changeEvent is the event of an edit, a deletion or a reaction.
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
