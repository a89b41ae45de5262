// Arranging chats: archive, pin, mute, mark as read or unread, delete.

package chat

import (
	"context"
	"fmt"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// Change changes how a chat is arranged, on all devices of the account, and returns the chat
// as it is then. A field that is nil changes nothing, but a chat that is archived is no longer
// pinned. Its errors are NotFound for a chat that the instance does not have, Conflict while
// it is not connected, and what the platform answers; for messages of a group that disappear,
// those of a group's settings.
func (s *Service) Change(ctx context.Context, instanceID string, with gateway.Recipient, change gateway.ChatChange) (Listed, error) {
	session, chat, err := s.locate(ctx, instanceID, with)
	if err != nil {
		return Listed{}, err
	}
	anchor, err := s.anchor(ctx, chat)
	if err != nil {
		return Listed{}, err
	}
	if group := chat.Party.JID; group.IsGroup() && change.Disappearing != nil {
		if err := session.Groups().ChangeGroup(ctx, group, gateway.GroupUpdate{Disappearing: change.Disappearing}); err != nil {
			return Listed{}, err
		}
		if err := s.keep(ctx, instanceID, chat, gateway.ChatUpdate{ChatChange: gateway.ChatChange{Disappearing: change.Disappearing}}); err != nil {
			return Listed{}, err
		}
		change.Disappearing = nil
	}
	if change != (gateway.ChatChange{}) {
		if err := session.Chats().ChangeChat(ctx, anchor, change); err != nil {
			return Listed{}, err
		}
		if change.Archived != nil && *change.Archived {
			change.Pinned = new(false) // so have the other devices it now
		}
		// Of the messages, those are read that the other devices take for read.
		if err := s.keep(ctx, instanceID, chat, gateway.ChatUpdate{ChatChange: change, Through: through(anchor)}); err != nil {
			return Listed{}, err
		}
	}
	return s.Get(ctx, instanceID, with)
}

// Delete deletes a chat on all devices of the account, and its messages and files here. Its
// errors are those of Change.
func (s *Service) Delete(ctx context.Context, instanceID string, with gateway.Recipient) error {
	session, chat, err := s.locate(ctx, instanceID, with)
	if err != nil {
		return err
	}
	anchor, err := s.anchor(ctx, chat)
	if err != nil {
		return err
	}
	if err := session.Chats().DeleteChat(ctx, anchor); err != nil {
		return err
	}
	return s.keep(ctx, instanceID, chat, gateway.ChatUpdate{Deleted: true, Through: through(anchor)})
}

// locate finds a chat, and the session of its instance.
func (s *Service) locate(ctx context.Context, instanceID string, with gateway.Recipient) (gateway.Session, gateway.Chat, error) {
	session, err := s.config.Sessions.Session(ctx, instanceID)
	if err != nil {
		return nil, gateway.Chat{}, err
	}
	chat, err := s.Find(ctx, instanceID, with)
	return session, chat, err
}

// anchor finds the newest message of a chat, by which other devices know how far a change
// reaches.
func (s *Service) anchor(ctx context.Context, chat gateway.Chat) (gateway.ChatAnchor, error) {
	anchor := gateway.ChatAnchor{Party: chat.Party}
	if chat.LastID == "" {
		return anchor, nil
	}
	messages, err := s.config.Store.MessagesByID(ctx, chat.InstanceID, []string{chat.LastID})
	if err != nil {
		return anchor, fmt.Errorf("chat: find the newest message: %w", err)
	}
	if len(messages) > 0 {
		anchor.Last = messages[0]
	}
	return anchor, nil
}

// through is until when messages were sent that a change is about: the platform counts in
// seconds. Zero: all.
func through(anchor gateway.ChatAnchor) time.Time {
	if anchor.Last.SentAt.IsZero() {
		return time.Time{}
	}
	return anchor.Last.SentAt.Truncate(time.Second).Add(time.Second - time.Millisecond)
}

// keep keeps a change that the platform has.
func (s *Service) keep(ctx context.Context, instanceID string, chat gateway.Chat, update gateway.ChatUpdate) error {
	update.Chat, update.At = chat.Party, s.config.Now().UTC()
	// The other devices have it already, whether or not the client still waits.
	return s.config.Recorder.Keep(context.WithoutCancel(ctx), instanceID, update)
}
