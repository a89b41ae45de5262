// Edits, deletions, reactions and pins that a session received.

package messaging

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

func changeOrigin(change gateway.Change) origin {
	return origin{
		what: "change", chat: change.Chat, by: change.By, fromMe: change.FromMe, key: change.SourceKey, at: change.At,
	}
}

// keepChange appends the event of a change, and applies it to the message that it names, if it is stored. A change that its
// author may not make is ignored: it changes nothing and has no event. Reactions
// change no message; they stand beside it.
func (r receiver) keepChange(ctx context.Context, change gateway.Change) error {
	if change.FromMe {
		// The platform sends its receipts to this device as well, and they belong to no
		// stored message.
		err := r.config.Store.AcceptChange(ctx, gateway.SentChange{
			PlatformID: change.ID, InstanceID: r.instanceID, Kind: change.Kind, By: change.By, At: change.At, Confirmed: true,
		})
		if err != nil {
			return fmt.Errorf("messaging: keep a change: %w", err)
		}
	}
	if change.Kind == gateway.ChangeReaction {
		return r.keepReaction(ctx, change)
	}
	err := r.config.Store.UpdateMessages(ctx, r.instanceID, []string{change.PlatformID},
		func(found []gateway.Message) ([]gateway.Message, []eventlog.Event, error) {
			for n := range found {
				if mayChange(change, found[n]) {
					return r.reporter.changed(change, found[n])
				}
			}
			if len(found) > 0 {
				r.logger.InfoContext(ctx, "a change of a message is ignored: its author may not make it",
					slog.String("platform_id", change.PlatformID))
				return nil, nil, nil
			}
			// The message is from before the link, so its sender is not known here.
			event, err := changeEvent(r.instanceID, change, nil)
			return nil, []eventlog.Event{event}, err
		})
	if err != nil {
		return fmt.Errorf("messaging: change a message: %w", err)
	}
	return nil
}

// keepReaction keeps a reaction, in the place of an earlier one of the same person, and appends its event,
// also where the message is not known here.
func (r receiver) keepReaction(ctx context.Context, change gateway.Change) error {
	event, err := changeEvent(r.instanceID, change, nil)
	if err != nil {
		return err
	}
	found, err := r.config.Store.FindMessages(ctx, r.instanceID, change.PlatformID)
	if err != nil {
		return fmt.Errorf("messaging: find the message of a reaction: %w", err)
	}
	n := slices.IndexFunc(found, func(m gateway.Message) bool {
		return m.PlatformID == change.PlatformID && sameChat(m.Chat, change.Chat)
	})
	if n < 0 {
		return r.append(ctx, event)
	}
	reaction := gateway.StoredReaction{MessageID: found[n].ID, By: change.By, Reaction: change.Reaction, At: change.At}
	if err := r.config.Store.KeepReaction(ctx, r.instanceID, reaction, event); err != nil {
		return fmt.Errorf("messaging: keep a reaction: %w", err)
	}
	return nil
}

// mayChange reports whether the change is of this message and allowed: by its sender, in a group
// a deletion by an administrator. Everybody in a chat pins what he or she likes, except that in
// some groups only administrators do, which the session has looked at.
func mayChange(change gateway.Change, message gateway.Message) bool {
	if !sameChat(message.Chat, change.Chat) {
		return false
	}
	if change.Kind == gateway.ChangePin {
		return true
	}
	bySender := change.FromMe == message.FromMe &&
		(change.FromMe || message.Sender.Is(change.By.JID) || message.Sender.Is(change.By.LID))
	if message.Chat.JID.IsChannel() { // in which the platform lets nobody else change anything
		return change.Kind != gateway.ChangeReaction
	}
	return bySender || change.Kind == gateway.ChangeDeleted && message.Chat.JID.IsGroup() && change.ByAdmin
}

// changed applies a change that was received to its message, and returns the event of it. An edit
// from before one that the message has already is late, and changes nothing.
func (r *reporter) changed(change gateway.Change, message gateway.Message) ([]gateway.Message, []eventlog.Event, error) {
	if change.Kind == gateway.ChangeEdited && message.DeletedAt.IsZero() {
		if change.At.Before(message.EditedAt) {
			return nil, nil, nil
		}
		amended, err := r.encoder.EncodeAmended(message.Payload, change.Payload)
		if err != nil {
			return nil, nil, fmt.Errorf("messaging: edit message: %w", err)
		}
		change.Type, change.Payload, change.Event = amended.Type, amended.Payload, amended.Event
		change.Text = gateway.CleanText(amended.Text, gateway.MaxText)
	}
	event, err := changeEvent(message.InstanceID, change, &message)
	return apply(change, message), []eventlog.Event{event}, err
}
