package whatsapp

import (
	"context"
	"log/slog"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// chatPresenceArrived reports that a contact types or records, and ignores what this
// account does on another device.
func (s *session) chatPresenceArrived(event *events.ChatPresence) {
	if event.IsFromMe {
		return
	}
	s.completeAddresses(&event.MessageSource)
	presence := gateway.ContactPresence{
		From: s.person(event.Sender, event.SenderAlt, ""),
		Chat: wire.ChatOf(event.MessageSource),
		At:   s.now().UTC(),
	}
	switch {
	case event.State != types.ChatPresenceComposing:
		presence.Presence = gateway.PresencePaused
	case event.Media == types.ChatPresenceMediaAudio:
		presence.Presence = gateway.PresenceRecording
	default:
		presence.Presence = gateway.PresenceComposing
	}
	s.presenceArrived(presence)
}

// onlineArrived reports that a contact came or went. The platform's first answer about a
// contact who hides the presence says nothing, and is not reported.
func (s *session) onlineArrived(event *events.Presence) {
	from := s.person(event.From, types.EmptyJID, "")
	if self := s.Self(); self.Is(from.JID) || self.Is(from.LID) || s.caches.followed.Dropped(from.Key()) {
		return
	}
	presence := gateway.ContactPresence{
		From: from, Chat: gateway.Party{JID: from.JID, LID: from.LID},
		Presence: gateway.PresenceAvailable, At: s.now().UTC(),
	}
	if event.Unavailable {
		presence.Presence = gateway.PresenceUnavailable
		if !event.LastSeen.IsZero() {
			presence.LastSeen = event.LastSeen.UTC()
		}
	}
	wasOnline := s.caches.followed.Set(from.Key(), !event.Unavailable)
	if event.Unavailable && presence.LastSeen.IsZero() && !wasOnline {
		return
	}
	s.presenceArrived(presence)
}

func (s *session) presenceArrived(presence gateway.ContactPresence) {
	if err := s.receiver.Receive(s.ctx, presence); err != nil && s.ctx.Err() == nil {
		// The platform does not deliver a presence again, and it is stale anyway.
		s.logger.WarnContext(s.ctx, "presence not kept", slog.Any("error", err))
	}
}

// watch asks the platform to report when the contact of a chat comes and goes. It asks
// once for each connection: the platform forgets it with the connection. The platform
// reports only to accounts that show their own presence; whether this one does is up to
// its user.
func (s *session) watch(client *whatsmeow.Client, chat types.JID) {
	if chat.Server != types.DefaultUserServer && chat.Server != types.HiddenUserServer {
		return
	}
	contact := wire.PartyOf(chat, otherAddress(s.ctx, client.Store.LIDs, chat), "")
	if !s.caches.followed.Add(contact.Key()) {
		return
	}
	s.tasks.Add(func() {
		// After a failure one presence is missing; the next connection asks again.
		if err := client.SubscribePresence(s.ctx, chat); err != nil {
			s.logger.DebugContext(s.ctx, "presence of a contact not followed", slog.Any("error", err))
		}
	})
}

// FollowPresence asks the platform to report when a contact comes and goes (gateway.People).
func (s *session) FollowPresence(ctx context.Context, contact gateway.Party) error {
	client := s.current()
	jid, err := wire.ToJID(contact.Address())
	if err != nil {
		return err
	}
	who := wire.PartyOf(jid, otherAddress(ctx, client.Store.LIDs, jid), "")
	s.caches.followed.Add(who.Key())
	ctx, cancel := context.WithTimeout(ctx, s.connector.config.SendTimeout)
	defer cancel()
	if err := client.SubscribePresence(ctx, jid); err != nil {
		return wire.Failure(err)
	}
	return nil
}

// DropPresence ignores a contact (gateway.People).
func (s *session) DropPresence(contact gateway.Party) {
	if jid, err := wire.ToJID(contact.Address()); err == nil {
		s.caches.followed.Drop(wire.PartyOf(jid, otherAddress(s.ctx, s.current().Store.LIDs, jid), "").Key())
	}
}
