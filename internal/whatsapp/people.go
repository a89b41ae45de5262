package whatsapp

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/profiles"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// SetPresence shows a presence (gateway.People).
func (s *session) SetPresence(ctx context.Context, chat gateway.JID, presence gateway.Presence) error {
	err := s.setPresence(ctx, chat, presence)
	if errors.Is(err, whatsmeow.ErrNoPushName) {
		return gateway.Errorf(gateway.Conflict, gateway.CodeNotConnected,
			"the account's name is not known yet, and the platform shows nobody online without one; try again")
	}
	if err != nil {
		return wire.Failure(err)
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
	default: // the others belong to one chat
	}
	to, err := wire.ToJID(chat)
	if err != nil {
		return err
	}
	s.Watch(client, to)
	switch presence {
	case gateway.PresenceRecording:
		return client.SendChatPresence(ctx, to, types.ChatPresenceComposing, types.ChatPresenceMediaAudio)
	case gateway.PresencePaused:
		return client.SendChatPresence(ctx, to, types.ChatPresencePaused, types.ChatPresenceMediaText)
	default:
		return client.SendChatPresence(ctx, to, types.ChatPresenceComposing, types.ChatPresenceMediaText)
	}
}

// ProfilePicture returns the URL of a picture (gateway.People).
func (s *session) ProfilePicture(ctx context.Context, of gateway.JID) (string, error) {
	jid, err := wire.ToJID(of)
	if err != nil {
		return "", err
	}
	picture, err := s.current().GetProfilePictureInfo(ctx, jid, nil)
	switch {
	case errors.Is(err, whatsmeow.ErrProfilePictureNotSet), errors.Is(err, whatsmeow.ErrProfilePictureUnauthorized):
		return "", nil // none, or hidden from this account
	case err != nil:
		return "", wire.Failure(err)
	case picture == nil:
		return "", nil
	}
	return picture.URL, nil
}

// SetBlocked blocks or unblocks a person (gateway.People).
func (s *session) SetBlocked(ctx context.Context, who gateway.JID, blocked bool) error {
	jid, err := wire.ToJID(who)
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
		return profiles.BlockFailure(err)
	}
	s.Blocks(jid, blocked)
	return nil
}

// Resolve asks which numbers have an account (gateway.People).
func (s *session) Resolve(ctx context.Context, numbers []string) ([]gateway.Registration, error) {
	ctx, cancel := context.WithTimeout(ctx, s.connector.config.SendTimeout)
	defer cancel()
	answers, err := s.current().IsOnWhatsApp(ctx, numbers)
	if err != nil {
		return nil, wire.Failure(err)
	}
	byNumber := make(map[string]gateway.Registration, len(answers))
	for _, answer := range answers {
		number := strings.TrimPrefix(answer.Query, "+")
		if !answer.IsIn {
			continue
		}
		party := wire.PartyOf(answer.JID, answer.PhoneNumber, "")
		byNumber[number] = gateway.Registration{Number: number, Exists: true, JID: party.JID, LID: party.LID}
	}
	registrations := make([]gateway.Registration, len(numbers))
	for i, number := range numbers {
		registration, ok := byNumber[number]
		if !ok {
			registration = gateway.Registration{Number: number}
		}
		registrations[i] = registration
	}
	return registrations, nil
}

// loadPicture asks for the account's own picture in the background and passes its URL to
// the lifecycle.
func (s *session) loadPicture() {
	s.connector.running.Go(func() {
		ctx, cancel := context.WithTimeout(s.ctx, s.connector.config.SendTimeout)
		defer cancel()
		url, err := s.ProfilePicture(ctx, s.Self().Address())
		if err != nil {
			s.logger.DebugContext(ctx, "own profile picture not known", slog.Any("error", err))
			return
		}
		s.callHandler(func() { s.lifecycle.PictureChanged(s.ctx, url) })
	})
}
