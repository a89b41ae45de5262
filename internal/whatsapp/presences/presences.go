// Package presences is the part of a session about what contacts show of themselves: that they
// type, record, come and go. The platform reports that of those who are followed.
package presences

import (
	"context"
	"log/slog"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/caches"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// Config is what the presences of a session need of it. All of it is required.
type Config struct {
	Context context.Context          //nolint:containedctx // until the session is over
	Client  func() *whatsmeow.Client // in use
	Self    func() gateway.Party
	// Person names somebody under both addresses, as far as they are known.
	Person func(one, other types.JID, name string) gateway.Party
	// Complete adds addresses that the platform has left out.
	Complete func(source *types.MessageSource)
	Receive  func(ctx context.Context, incoming gateway.Incoming) error
	Later    func(task func()) // runs a task apart, in its order
	Logger   *slog.Logger
	Now      func() time.Time
	Wait     time.Duration // how long the platform may take for one answer
}

// Presences follows contacts and reports what they show. It is safe for concurrent use.
type Presences struct {
	config   Config
	followed caches.Followed // of the connection in use
}

// New returns the presences of a session.
func New(config Config) *Presences { return &Presences{config: config} }

// ForgetFollowed forgets who is followed, as the platform does with a connection.
func (p *Presences) ForgetFollowed() { p.followed.Clear() }

// TypingArrived reports that a contact types or records, and ignores what this account does on
// another device.
func (p *Presences) TypingArrived(event *events.ChatPresence) {
	if event.IsFromMe {
		return
	}
	p.config.Complete(&event.MessageSource)
	presence := gateway.ContactPresence{
		From: p.config.Person(event.Sender, event.SenderAlt, ""),
		Chat: wire.ChatOf(event.MessageSource),
		At:   p.config.Now().UTC(),
	}
	switch {
	case event.State != types.ChatPresenceComposing:
		presence.Presence = gateway.PresencePaused
	case event.Media == types.ChatPresenceMediaAudio:
		presence.Presence = gateway.PresenceRecording
	default:
		presence.Presence = gateway.PresenceComposing
	}
	p.report(presence)
}

// OnlineArrived reports that a contact came or went. The platform's first answer about a contact
// who hides the presence says nothing, and is not reported.
func (p *Presences) OnlineArrived(event *events.Presence) {
	from := p.config.Person(event.From, types.EmptyJID, "")
	if self := p.config.Self(); self.Is(from.JID) || self.Is(from.LID) || p.followed.Dropped(from.Key()) {
		return
	}
	presence := gateway.ContactPresence{
		From: from, Chat: gateway.Party{JID: from.JID, LID: from.LID},
		Presence: gateway.PresenceAvailable, At: p.config.Now().UTC(),
	}
	if event.Unavailable {
		presence.Presence = gateway.PresenceUnavailable
		if !event.LastSeen.IsZero() {
			presence.LastSeen = event.LastSeen.UTC()
		}
	}
	wasOnline := p.followed.Set(from.Key(), !event.Unavailable)
	if event.Unavailable && presence.LastSeen.IsZero() && !wasOnline {
		return
	}
	p.report(presence)
}

func (p *Presences) report(presence gateway.ContactPresence) {
	if err := p.config.Receive(p.config.Context, presence); err != nil && p.config.Context.Err() == nil {
		// The platform does not deliver a presence again, and it is stale anyway.
		p.config.Logger.WarnContext(p.config.Context, "presence not kept", slog.Any("error", err))
	}
}

// Watch asks the platform to report when the contact of a chat comes and goes. It asks once for
// each connection: the platform forgets it with the connection. The platform reports only to
// accounts that show their own presence; whether this one does is up to its user.
func (p *Presences) Watch(client *whatsmeow.Client, chat types.JID) {
	if chat.Server != types.DefaultUserServer && chat.Server != types.HiddenUserServer || !p.followed.Add(p.key(chat)) {
		return
	}
	p.config.Later(func() {
		// After a failure one presence is missing; the next connection asks again.
		if err := client.SubscribePresence(p.config.Context, chat); err != nil {
			p.config.Logger.DebugContext(p.config.Context, "presence of a contact not followed", slog.Any("error", err))
		}
	})
}

// FollowPresence asks the platform to report when a contact comes and goes (gateway.People).
func (p *Presences) FollowPresence(ctx context.Context, contact gateway.Party) error {
	jid, err := wire.ToJID(contact.Address())
	if err != nil {
		return err
	}
	p.followed.Add(p.key(jid))
	ctx, cancel := context.WithTimeout(ctx, p.config.Wait)
	defer cancel()
	if err := p.config.Client().SubscribePresence(ctx, jid); err != nil {
		return wire.Failure(err)
	}
	return nil
}

// DropPresence ignores a contact (gateway.People).
func (p *Presences) DropPresence(contact gateway.Party) {
	if jid, err := wire.ToJID(contact.Address()); err == nil {
		p.followed.Drop(p.key(jid))
	}
}

// key is what the platform's reports about somebody are found by.
func (p *Presences) key(jid types.JID) gateway.JID {
	return p.config.Person(jid, types.EmptyJID, "-").Key()
}
