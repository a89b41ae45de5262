package whatsapp

import (
	"log/slog"
	"sync"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
)

// chatPresenceArrived tells that somebody types or records. What this account
// does on another device is no news about a contact.
func (s *session) chatPresenceArrived(event *events.ChatPresence) {
	if event.IsFromMe {
		return
	}
	s.completeAddresses(&event.MessageSource)
	presence := gateway.ContactPresence{
		From: s.person(event.Sender, event.SenderAlt, ""),
		Chat: chatOf(event.MessageSource),
		At:   s.connector.config.Now().UTC(),
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

// onlineArrived tells that a contact came or went. The platform's answer to
// whoever begins to follow somebody who hides it says nothing, and is no event.
func (s *session) onlineArrived(event *events.Presence) {
	from := s.person(event.From, types.EmptyJID, "")
	if self := s.Self(); self.Is(from.JID) || self.Is(from.LID) {
		return
	}
	presence := gateway.ContactPresence{
		From: from, Chat: gateway.Party{JID: from.JID, LID: from.LID},
		Presence: gateway.PresenceAvailable, At: s.connector.config.Now().UTC(),
	}
	if event.Unavailable {
		presence.Presence = gateway.PresenceUnavailable
		if !event.LastSeen.IsZero() {
			presence.LastSeen = event.LastSeen.UTC()
		}
	}
	wasOnline := s.followed.set(lidFirst(from), !event.Unavailable)
	if event.Unavailable && presence.LastSeen.IsZero() && !wasOnline {
		return
	}
	s.presenceArrived(presence)
}

func (s *session) presenceArrived(presence gateway.ContactPresence) {
	if err := s.receiver.Receive(s.ctx, presence); err != nil && s.ctx.Err() == nil {
		// The platform does not bring a presence again, and it is stale anyway.
		s.logger.WarnContext(s.ctx, "presence not kept", slog.Any("error", err))
	}
}

// watch asks the platform to tell when the contact of a chat comes and goes,
// once for each connection: it forgets the wish with the connection. It tells
// only those who show themselves; that is left to whoever uses the account.
func (s *session) watch(client *whatsmeow.Client, chat types.JID) {
	if chat.Server != types.DefaultUserServer && chat.Server != types.HiddenUserServer {
		return
	}
	if !s.followed.add(lidFirst(partyOf(chat, altOf(s.ctx, client.Store.LIDs)(chat), ""))) {
		return
	}
	s.errands.add(func() {
		// A wish that did not get through is one presence less; the next connection
		// asks again.
		if err := client.SubscribePresence(s.ctx, chat); err != nil {
			s.logger.DebugContext(s.ctx, "presence of a contact not followed", slog.Any("error", err))
		}
	})
}

// maxFollowed bounds how many contacts a connection follows.
const maxFollowed = 2048

// contacts are those whom the connection follows, and whether they were online
// last. The zero value is empty and ready.
type contacts struct {
	mu     sync.Mutex
	online map[gateway.JID]bool
}

func (c *contacts) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.online = nil
}

// add reports whether the contact is to be followed from now on.
func (c *contacts) add(who gateway.JID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.online[who]; known || len(c.online) >= maxFollowed {
		return false
	}
	if c.online == nil {
		c.online = map[gateway.JID]bool{}
	}
	c.online[who] = false
	return true
}

// set notes what a contact shows, and returns what it showed before.
func (c *contacts) set(who gateway.JID, online bool) (before bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, known := c.online[who]
	if known {
		c.online[who] = online
	}
	return before
}
