// What the account's owner does with chats, here or on another device, is kept and reported.

package chat

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/required"
)

// removeSlice bounds how many messages are removed at once.
const removeSlice = 500

// RecorderStore stores how chats are arranged, with the events of it.
type RecorderStore interface {
	ArrangementStore
	RemovalFinder
}

// ArrangementStore changes and removes chats, with their messages.
type ArrangementStore interface {
	UpdateChat(ctx context.Context, instanceID string, update gateway.ChatUpdate,
		report func(chat gateway.Chat, changed []gateway.ChatAspect) (eventlog.Event, error)) error
	ArrangeChats(ctx context.Context, instanceID string, updates []gateway.ChatUpdate) error
	DeleteMessages(ctx context.Context, instanceID string, ids []string) error
	RemoveChat(ctx context.Context, instanceID string, party gateway.Party,
		report func(chat gateway.Chat, changed []gateway.ChatAspect) (eventlog.Event, error)) error
	MessageStore
}

// RemovalFinder finds chats, and those of their messages that are to be removed.
type RemovalFinder interface {
	FindChat(ctx context.Context, instanceID string, party gateway.Party) (gateway.Chat, bool, error)
	ChatMessagesUntil(ctx context.Context, chatID string, until time.Time, starred bool, limit int) ([]string, error)
}

// RecorderConfig is what a recorder stands on. All of it is required.
type RecorderConfig struct {
	Store RecorderStore
	// RemoveFile removes the file of a message, if there is one.
	RemoveFile func(ctx context.Context, instanceID, messageID string) error
	Logger     *slog.Logger
}

// Recorder keeps how chats are arranged. It is safe for concurrent use.
type Recorder struct{ config RecorderConfig }

// NewRecorder makes the recorder of all instances.
func NewRecorder(config RecorderConfig) (*Recorder, error) {
	if err := required.Check("chat", config); err != nil {
		return nil, err
	}
	return &Recorder{config}, nil
}

// Keep keeps what was done with a chat, and appends the event chat.updated if something is
// different then. A second time it changes nothing.
func (k *Recorder) Keep(ctx context.Context, instanceID string, update gateway.ChatUpdate) error {
	report := func(chat gateway.Chat, changed []gateway.ChatAspect) (eventlog.Event, error) {
		event, err := eventlog.NewEvent(instanceID, chat.Party.Key(), "", update.At, eventlog.NewChatUpdated(chat, changed))
		if err != nil {
			return event, fmt.Errorf("chat: make event %s: %w", eventlog.KindChatUpdated, err)
		}
		return event, nil
	}
	if update.Deleted {
		return k.remove(ctx, instanceID, update, report)
	}
	if update.Cleared {
		chat, removed, err := k.removeMessages(ctx, instanceID, update)
		if err != nil {
			return fmt.Errorf("chat: clear a chat: %w", err)
		}
		if !removed {
			return nil
		}
		update.Chat = chat.Party
	}
	if err := k.config.Store.UpdateChat(ctx, instanceID, update, report); err != nil {
		return fmt.Errorf("chat: keep a change of a chat: %w", err)
	}
	return nil
}

// Arrange keeps how chats were arranged before this device was told. It causes no events.
func (k *Recorder) Arrange(ctx context.Context, instanceID string, updates []gateway.ChatUpdate) error {
	if err := k.config.Store.ArrangeChats(ctx, instanceID, updates); err != nil {
		return fmt.Errorf("chat: keep how chats are arranged: %w", err)
	}
	return nil
}

// remove removes the messages that a chat was deleted with, as retention does, and the chat if
// nothing is left in it.
func (k *Recorder) remove(
	ctx context.Context, instanceID string, update gateway.ChatUpdate,
	report func(chat gateway.Chat, changed []gateway.ChatAspect) (eventlog.Event, error),
) error {
	_, _, err := k.removeMessages(ctx, instanceID, update)
	if err == nil {
		err = k.config.Store.RemoveChat(ctx, instanceID, update.Chat, report)
	}
	if err != nil {
		return fmt.Errorf("chat: remove a chat: %w", err)
	}
	return nil
}

// removeMessages removes the messages of a chat that an update is about, with their files, and
// reports whether there were any.
func (k *Recorder) removeMessages(ctx context.Context, instanceID string, update gateway.ChatUpdate) (chat gateway.Chat, removed bool, err error) {
	chat, known, err := k.config.Store.FindChat(ctx, instanceID, update.Chat)
	for more := known && err == nil; more; {
		var ids []string
		if ids, err = k.config.Store.ChatMessagesUntil(ctx, chat.ID, update.Through, !update.KeepStarred, removeSlice); err != nil {
			break
		}
		// The files first: without its message a file could not be found any more.
		for _, id := range ids {
			if err := k.config.RemoveFile(context.WithoutCancel(ctx), instanceID, id); err != nil {
				k.config.Logger.ErrorContext(ctx, "file of a deleted chat not removed: remove it from the media folder",
					slog.String("instance_id", instanceID), slog.String("message_id", id), slog.Any("error", err))
			}
		}
		if len(ids) > 0 {
			removed, err = true, k.config.Store.DeleteMessages(ctx, instanceID, ids)
		}
		more = err == nil && len(ids) == removeSlice
	}
	return chat, removed, err
}
