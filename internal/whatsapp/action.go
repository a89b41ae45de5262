package whatsapp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/gateway"
)

// EncodeChange writes what tells the platform of a change (gateway.Session).
func (s *session) EncodeChange(key gateway.MessageKey, change gateway.Change) ([]byte, error) {
	chat, err := toJID(key.Chat.Address())
	if err != nil {
		return nil, err
	}
	var message *waE2E.Message
	switch change.Kind {
	case gateway.ChangeEdited:
		content, err := decode(change.Payload)
		if err != nil {
			return nil, err
		}
		message = s.current().BuildEdit(chat, key.PlatformID, content)
	case gateway.ChangeDeleted:
		message = s.current().BuildRevoke(chat, types.EmptyJID, key.PlatformID)
	case gateway.ChangeReaction:
		sender := types.EmptyJID // ourselves
		if !key.FromMe {
			// In groups the sender is named as the group addresses people, by LID.
			if sender, err = toJID(lidFirst(key.Sender)); err != nil {
				return nil, err
			}
		}
		message = s.current().BuildReaction(chat, sender, key.PlatformID, change.Reaction)
	}
	payload, err := proto.Marshal(message)
	if err != nil {
		return nil, fmt.Errorf("whatsapp: encode a change: %w", err)
	}
	return payload, nil
}

// MarkRead tells the sender that a message was read (gateway.Session).
func (s *session) MarkRead(ctx context.Context, key gateway.MessageKey, at time.Time) error {
	// Receipts go where the message came from, and that was a LID.
	chat, err := toJID(lidFirst(key.Chat))
	if err != nil {
		return err
	}
	sender, err := toJID(lidFirst(key.Sender))
	if err != nil {
		return err
	}
	if err := s.current().MarkRead(ctx, []types.MessageID{key.PlatformID}, at, chat, sender); err != nil {
		return sendError(err)
	}
	return nil
}

// SetPresence shows a presence (gateway.Session).
func (s *session) SetPresence(ctx context.Context, chat gateway.JID, presence gateway.Presence) error {
	err := s.setPresence(ctx, chat, presence)
	if errors.Is(err, whatsmeow.ErrNoPushName) {
		return gateway.Errorf(gateway.Conflict, gateway.CodeNotConnected,
			"the account's name is not known yet, and the platform shows nobody online without one; try again")
	}
	if err != nil {
		return sendError(err)
	}
	return nil
}

func (s *session) setPresence(ctx context.Context, chat gateway.JID, presence gateway.Presence) error {
	client := s.current()
	switch presence {
	case gateway.PresenceAvailable:
		return client.SendPresence(ctx, types.PresenceAvailable)
	case gateway.PresenceUnavailable:
		return client.SendPresence(ctx, types.PresenceUnavailable)
	default: // the others are of one chat
	}
	to, err := toJID(chat)
	if err != nil {
		return err
	}
	s.watch(client, to)
	switch presence {
	case gateway.PresenceRecording:
		return client.SendChatPresence(ctx, to, types.ChatPresenceComposing, types.ChatPresenceMediaAudio)
	case gateway.PresencePaused:
		return client.SendChatPresence(ctx, to, types.ChatPresencePaused, types.ChatPresenceMediaText)
	default:
		return client.SendChatPresence(ctx, to, types.ChatPresenceComposing, types.ChatPresenceMediaText)
	}
}

// ProfilePicture returns where a picture lies (gateway.Session).
func (s *session) ProfilePicture(ctx context.Context, of gateway.JID) (string, error) {
	jid, err := toJID(of)
	if err != nil {
		return "", err
	}
	picture, err := s.current().GetProfilePictureInfo(ctx, jid, nil)
	switch {
	case errors.Is(err, whatsmeow.ErrProfilePictureNotSet), errors.Is(err, whatsmeow.ErrProfilePictureUnauthorized):
		return "", nil // none, or hidden from us: there is none to be seen
	case err != nil:
		return "", sendError(err)
	case picture == nil:
		return "", nil
	}
	return picture.URL, nil
}

// loadPicture asks for the account's own picture and tells of it. Nobody waits
// for it: it is an ornament.
func (s *session) loadPicture() {
	s.connector.running.Go(func() {
		ctx, cancel := context.WithTimeout(s.ctx, s.connector.config.SendTimeout)
		defer cancel()
		url, err := s.ProfilePicture(ctx, s.Self().Address())
		if err != nil {
			s.logger.DebugContext(ctx, "own profile picture not known", slog.Any("error", err))
			return
		}
		s.hear(func() { s.lifecycle.PictureChanged(s.ctx, url) })
	})
}

// SetBlocked blocks a person, or lifts it (gateway.Session).
func (s *session) SetBlocked(ctx context.Context, who gateway.JID, blocked bool) error {
	jid, err := toJID(who)
	if err != nil {
		return err
	}
	client := s.current()
	if err := s.checkRecipient(ctx, client, jid); err != nil {
		return err
	}
	action := events.BlocklistChangeActionUnblock
	if blocked {
		action = events.BlocklistChangeActionBlock
	}
	if _, err := client.UpdateBlocklist(ctx, jid, action); err != nil {
		return sendError(err)
	}
	return nil
}
