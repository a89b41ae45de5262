// The table of chats: how they are arranged.

package store

import (
	"context"
	"fmt"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

// UpdateChat changes how a chat is arranged, and what of it was read. If something is
// different then, it appends the event that report makes. It does not delete: that is
// DeleteMessages and RemoveChat.
func (s *Store) UpdateChat(ctx context.Context, instanceID string, update gateway.ChatUpdate, report func(gateway.Chat, []gateway.ChatAspect) (eventlog.Event, error)) error {
	err := s.record(ctx, instanceID, func(ctx context.Context, r *recorder) error {
		chosen, err := r.chats.Change(ctx, r, update)
		if err != nil || len(chosen.Aspects) == 0 {
			return err
		}
		event, err := report(chosen.After, chosen.Aspects)
		if err != nil {
			return err
		}
		return r.Append(ctx, event)
	})
	if err != nil {
		return fmt.Errorf("store: update a chat: %w", err)
	}
	return nil
}

// ArrangeChats changes how chats are arranged, without an event.
func (s *Store) ArrangeChats(ctx context.Context, instanceID string, updates []gateway.ChatUpdate) error {
	err := s.record(ctx, instanceID, func(ctx context.Context, r *recorder) error {
		for _, update := range updates {
			if _, err := r.chats.Change(ctx, r, update); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("store: arrange chats: %w", err)
	}
	return nil
}

// RemoveChat removes a chat in which no message is left, with what was arranged, and appends
// the event that report makes. It does nothing if there is no such chat.
func (s *Store) RemoveChat(ctx context.Context, instanceID string, party gateway.Party, report func(gateway.Chat, []gateway.ChatAspect) (eventlog.Event, error)) error {
	err := s.record(ctx, instanceID, func(ctx context.Context, r *recorder) error {
		chat, gone, err := r.chats.Forget(ctx, r, party)
		if err != nil || !gone {
			return err
		}
		event, err := report(chat, []gateway.ChatAspect{gateway.ChatDeleted})
		if err != nil {
			return err
		}
		return r.Append(ctx, event)
	})
	if err != nil {
		return fmt.Errorf("store: remove a chat: %w", err)
	}
	return nil
}
