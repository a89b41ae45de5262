// What contacts show of themselves: that they type, record, come and go. The platform reports
// that of those who are followed.

package contacts

import (
	"context"
	"log/slog"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// ForgetFollowed forgets who is followed, as the platform does with a connection.
func (c *Contacts) ForgetFollowed() { c.followed.Clear() }

// TypingArrived reports that a contact types or records, and ignores what this account does on
// another device.
func (c *Contacts) TypingArrived(event *events.ChatPresence) {
	if event.IsFromMe {
		return
	}
	c.line.Complete(&event.MessageSource)
	presence := gateway.ContactPresence{
		From: c.line.Person(event.Sender, event.SenderAlt, ""),
		Chat: wire.ChatOf(event.MessageSource),
		At:   c.line.Now().UTC(),
	}
	switch {
	case event.State != types.ChatPresenceComposing:
		presence.Presence = gateway.PresencePaused
	case event.Media == types.ChatPresenceMediaAudio:
		presence.Presence = gateway.PresenceRecording
	default:
		presence.Presence = gateway.PresenceComposing
	}
	c.report(presence)
}

// OnlineArrived reports that a contact came or went. The platform's first answer about a contact
// who hides the presence says nothing, and is not reported.
func (c *Contacts) OnlineArrived(event *events.Presence) {
	from := c.line.Person(event.From, types.EmptyJID, "")
	if self := c.line.Self(); self.Is(from.JID) || self.Is(from.LID) || c.followed.Dropped(from.Key()) {
		return
	}
	presence := gateway.ContactPresence{
		From: from, Chat: gateway.Party{JID: from.JID, LID: from.LID},
		Presence: gateway.PresenceAvailable, At: c.line.Now().UTC(),
	}
	if event.Unavailable {
		presence.Presence = gateway.PresenceUnavailable
		if !event.LastSeen.IsZero() {
			presence.LastSeen = event.LastSeen.UTC()
		}
	}
	wasOnline := c.followed.Set(from.Key(), !event.Unavailable)
	if event.Unavailable && presence.LastSeen.IsZero() && !wasOnline {
		return
	}
	c.report(presence)
}

func (c *Contacts) report(presence gateway.ContactPresence) {
	c.line.Report(c.line.Context, presence, "presence") // the platform does not deliver it again, and it is stale anyway
}

// Watch asks the platform to report when the contact of a chat comes and goes. It asks once for
// each connection: the platform forgets it with the connection. The platform reports only to
// accounts that show their own presence; whether this one does is up to its user.
func (c *Contacts) Watch(chat types.JID) {
	if chat.Server != types.DefaultUserServer && chat.Server != types.HiddenUserServer || !c.followed.Add(c.key(chat)) {
		return
	}
	client := c.line.Client()
	c.line.Tasks.Add(func() {
		// After a failure one presence is missing; the next connection asks again.
		if err := client.SubscribePresence(c.line.Context, chat); err != nil {
			c.line.Logger.DebugContext(c.line.Context, "presence of a contact not followed", slog.Any("error", err))
		}
	})
}

// FollowPresence asks the platform to report when a contact comes and goes (gateway.People).
func (c *Contacts) FollowPresence(ctx context.Context, contact gateway.Party) error {
	jid, err := wire.ToJID(contact.Address())
	if err != nil {
		return err
	}
	c.followed.Add(c.key(jid))
	ctx, cancel := context.WithTimeout(ctx, c.line.Wait)
	defer cancel()
	if err := c.line.Client().SubscribePresence(ctx, jid); err != nil {
		return wire.Failure(err)
	}
	return nil
}

// DropPresence ignores a contact (gateway.People).
func (c *Contacts) DropPresence(contact gateway.Party) {
	if jid, err := wire.ToJID(contact.Address()); err == nil {
		c.followed.Drop(c.key(jid))
	}
}

// key is what the platform's reports about somebody are found by.
func (c *Contacts) key(jid types.JID) gateway.JID {
	return c.line.Person(jid, types.EmptyJID, "-").Key()
}

// SetPresence shows a presence (gateway.People).
func (c *Contacts) SetPresence(ctx context.Context, chat gateway.JID, presence gateway.Presence) error {
	var err error
	switch presence {
	case gateway.PresenceAvailable, gateway.PresenceUnavailable:
		name := c.line.Self().Name
		if name == "" {
			return gateway.Errorf(gateway.Conflict, gateway.CodeNotConnected,
				"the account's name is not known yet, and the platform shows nobody online without one; try again")
		}
		err = c.setOnline(ctx, name, presence == gateway.PresenceAvailable)
	default: // the others belong to one chat
		err = c.setTyping(ctx, chat, presence)
	}
	if err != nil {
		return wire.Failure(err)
	}
	return nil
}

// setOnline shows everybody that the account is online, or that it has gone.
func (c *Contacts) setOnline(ctx context.Context, name string, online bool) error {
	client, shown := c.line.Client(), types.PresenceUnavailable
	inside := client.DangerousInternals() //nolint:staticcheck // the library's own way reads the account's name where another goroutine may be writing it; the version is pinned
	if online {
		shown = types.PresenceAvailable
		c.line.Tasks.Add(inside.SendUnifiedSession)
	}
	client.SetForceActiveDeliveryReceipts(online)
	return inside.SendNode(ctx, waBinary.Node{Tag: "presence", Attrs: waBinary.Attrs{"type": string(shown), "name": name}})
}

// setTyping shows one chat that the account types or records, or that it has stopped.
func (c *Contacts) setTyping(ctx context.Context, chat gateway.JID, presence gateway.Presence) error {
	client := c.line.Client()
	to, err := wire.ToJID(chat)
	if err != nil {
		return err
	}
	c.Watch(to)
	switch presence {
	case gateway.PresenceRecording:
		return client.SendChatPresence(ctx, to, types.ChatPresenceComposing, types.ChatPresenceMediaAudio)
	case gateway.PresencePaused:
		return client.SendChatPresence(ctx, to, types.ChatPresencePaused, types.ChatPresenceMediaText)
	default:
		return client.SendChatPresence(ctx, to, types.ChatPresenceComposing, types.ChatPresenceMediaText)
	}
}
