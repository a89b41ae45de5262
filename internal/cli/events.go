package cli

import (
	"context"
	"strings"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/remote"
	"github.com/recado-project/recado/internal/cli/terminal"
)

// logsCommand follows an instance.
type logsCommand struct {
	remote.OnlyInstance
	Types []string `help:"Only events of these types, separated by commas." env:"-"`
	After *int64   `help:"Begin after the event with this sequence; 0 begins with the oldest one kept. Without it: with the next event." env:"-"`
}

// Run prints events until it is stopped.
func (c logsCommand) Run(ctx context.Context, t terminal.Terminal, on remote.Instance) error {
	options := client.FollowOptions{
		After: c.After, Types: c.Types,
		Reconnecting: func(cause error, wait time.Duration) {
			t.Notef("the stream was cut (%s): reconnecting in %s", explain(cause), wait.Round(100*time.Millisecond))
		},
	}
	for event, err := range on.Gateway.Follow(ctx, on.ID, options) {
		if err != nil {
			return err
		}
		if err := t.Print(event, eventLine(event)); err != nil {
			return err
		}
	}
	return nil
}

// eventLine is an event for people.
func eventLine(event client.Event) string {
	parts := []string{event.Timestamp.Local().Format(time.TimeOnly), event.Type}
	data, err := event.Decode()
	if err != nil {
		return strings.Join(parts, "  ")
	}
	switch data := data.(type) {
	case client.MessageReceivedEvent:
		parts = append(parts, data.Chat.Chat, messageLine(data.Message))
	case client.MessageSentEvent:
		parts = append(parts, data.Chat.Chat, messageLine(data.Message))
	case client.MessageStatusEvent:
		parts = append(parts, data.Chat.Chat, data.MessageID, data.Status)
	case client.MessageEditedEvent:
		parts = append(parts, data.Chat.Chat, data.MessageID, data.Text)
	case client.MessageDeletedEvent:
		parts = append(parts, data.Chat.Chat, data.MessageID)
	case client.MessageReactionEvent:
		parts = append(parts, data.Chat.Chat, data.MessageID, data.Reaction)
	case client.MessageStarredEvent:
		parts = append(parts, data.Chat.Chat, data.MessageID)
	case client.MessageDeletedForMeEvent:
		parts = append(parts, data.Chat.Chat, data.MessageID)
	case client.MessagePinnedEvent:
		parts = append(parts, data.Chat.Chat, data.MessageID)
	case client.InstanceStatusEvent:
		parts = append(parts, data.PreviousStatus+" → "+data.Status, terminal.OrNone(data.Reason))
	case client.PresenceEvent:
		parts = append(parts, data.Chat.Chat, data.Presence)
	case client.GroupUpdatedEvent:
		parts = append(parts, data.GroupID, data.Change)
	case client.ChannelUpdatedEvent:
		parts = append(parts, data.ChannelID, data.Change)
	case client.ContactUpdatedEvent:
		parts = append(parts, terminal.OrNone(data.JID), terminal.OrNone(data.Name))
	case client.CallReceivedEvent:
		parts = append(parts, data.Chat.Chat)
	case client.CallEndedEvent:
		parts = append(parts, data.Chat.Chat, data.Reason)
	case client.LabelUpdatedEvent:
		parts = append(parts, data.LabelID, data.Name)
	case client.LabelAssignedEvent:
		parts = append(parts, data.Chat.Chat, data.Name)
	case client.AccountUpdatedEvent:
		parts = append(parts, data.Change)
	case client.WebhookSuspendedEvent:
		parts = append(parts, data.Reason)
	}
	return terminal.Cleaned(strings.TrimRight(strings.Join(parts, "  "), " "))
}

// messageLine is a message in one line.
func messageLine(message client.Message) string {
	return strings.TrimRight(strings.Join([]string{message.MessageID, message.Type, terminal.OrNone(message.Text) + terminal.OrNone(message.Caption)}, "  "), " ")
}
