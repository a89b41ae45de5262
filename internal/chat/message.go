// What the account's owner does with messages for the account alone, here or on another device:
// star, delete.

package chat

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

// MessageStore changes messages, with the events of it.
type MessageStore interface {
	UpdateMessages(ctx context.Context, instanceID string, ids []string,
		change func(found []gateway.Message) (changed []gateway.Message, events []eventlog.Event, err error)) error
}

// Star stars a message on all devices of the account, or takes the star away. Its errors are
// NotFound, also for a message that was deleted, Conflict while the instance is not connected,
// and what the platform answers.
func (s *Service) Star(ctx context.Context, instanceID string, ref gateway.MessageRef, starred bool) error {
	session, message, err := s.mine(ctx, instanceID, ref)
	if err != nil {
		return err
	}
	if err := session.Chats().StarMessage(ctx, message.Key(), starred); err != nil {
		return err
	}
	return s.keepMessage(ctx, message, gateway.MessageUpdate{Starred: &starred})
}

// DeleteForMe deletes a message from the devices of the account, and its content and file here.
// Its errors are those of Star, and Conflict for a message that is on its way.
func (s *Service) DeleteForMe(ctx context.Context, instanceID string, ref gateway.MessageRef) error {
	session, message, err := s.mine(ctx, instanceID, ref)
	if err != nil {
		return err
	}
	if message.Status == gateway.MessagePending {
		return gateway.Errorf(gateway.Conflict, gateway.CodeMessageBeingSent, "the message waits to be sent, or is being sent: its content is still needed")
	}
	if err := session.Chats().DeleteForMe(ctx, message.Key(), message.SentAt); err != nil {
		return err
	}
	return s.keepMessage(ctx, message, gateway.MessageUpdate{Deleted: true})
}

// mine finds a message that was not deleted, and the session of its instance.
func (s *Service) mine(ctx context.Context, instanceID string, ref gateway.MessageRef) (gateway.Session, gateway.Message, error) {
	session, err := s.config.Sessions.Session(ctx, instanceID)
	if err != nil {
		return nil, gateway.Message{}, err
	}
	message, err := s.named(ctx, instanceID, ref)
	if err == nil && !message.DeletedAt.IsZero() {
		err = gateway.Errorf(gateway.NotFound, gateway.CodeMessageNotFound, "the message was deleted")
	}
	return session, message, err
}

// keepMessage keeps what the platform has.
func (s *Service) keepMessage(ctx context.Context, message gateway.Message, update gateway.MessageUpdate) error {
	update.Chat, update.PlatformID, update.FromMe, update.At = message.Chat, message.PlatformID, message.FromMe, s.config.Now().UTC()
	// The other devices have it already, whether or not the client still waits.
	return s.config.Recorder.KeepMessage(context.WithoutCancel(ctx), message.InstanceID, update)
}

// KeepMessage keeps what was done with a message, and appends the event of it if something is
// different then. A message that is not known here, or is still on its way, stays as it is.
func (k *Recorder) KeepMessage(ctx context.Context, instanceID string, update gateway.MessageUpdate) error {
	deleted := ""
	err := k.config.Store.UpdateMessages(ctx, instanceID, []string{update.PlatformID},
		func(found []gateway.Message) (changed []gateway.Message, events []eventlog.Event, err error) {
			deleted = ""
			n := slices.IndexFunc(found, func(m gateway.Message) bool {
				return m.PlatformID == update.PlatformID && m.FromMe == update.FromMe && m.DeletedAt.IsZero() &&
					(m.Chat.Is(update.Chat.JID) || m.Chat.Is(update.Chat.LID))
			})
			if n < 0 {
				return nil, nil, nil
			}
			message := found[n]
			var data eventlog.Data
			switch {
			case update.Deleted && message.Status != gateway.MessagePending:
				deleted = message.ID
				message.Text, message.Payload, message.Menu, message.DeletedAt, message.Starred = "", nil, gateway.Menu{}, update.At, false
				data = eventlog.MessageDeletedForMe{MessageID: message.PlatformID, Chat: eventlog.NewChat(message.Chat)}
			case update.Starred != nil && message.Starred != *update.Starred:
				message.Starred = *update.Starred
				data = eventlog.MessageStarred{MessageID: message.PlatformID, Chat: eventlog.NewChat(message.Chat), Starred: message.Starred}
			default:
				return nil, nil, nil
			}
			if update.Earlier {
				return []gateway.Message{message}, nil, nil
			}
			event, err := eventlog.NewEvent(instanceID, message.Chat.Key(), "", update.At, data)
			if err != nil {
				return nil, nil, fmt.Errorf("chat: make event %s: %w", data.Kind(), err)
			}
			return []gateway.Message{message}, []eventlog.Event{event}, nil
		})
	if err != nil {
		return fmt.Errorf("chat: keep what was done with a message: %w", err)
	}
	if deleted == "" {
		return nil
	}
	if err := k.config.RemoveFile(context.WithoutCancel(ctx), instanceID, deleted); err != nil {
		k.config.Logger.ErrorContext(ctx, "file of a deleted message not removed: remove it from the media folder",
			slog.String("instance_id", instanceID), slog.String("message_id", deleted), slog.Any("error", err))
	}
	return nil
}
