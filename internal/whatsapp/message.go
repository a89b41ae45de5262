package whatsapp

import (
	"fmt"
	"log/slog"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/keys"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// messageArrived translates a message, passes it to the receiver and reports whether it
// was kept.
func (s *session) messageArrived(event *events.Message) bool {
	if !wire.IsChat(event.Info.MessageSource) || event.Info.IsNewsletterStatus {
		return true
	}
	notification := event.Message.GetProtocolMessage().GetHistorySyncNotification()
	if notification != nil && event.Info.IsFromMe { // anybody can write such a message
		s.historyAnnounced(&event.Info, notification)
		return true
	}
	username := s.usernameOf(&event.Info)
	s.line.Complete(&event.Info.MessageSource)
	if setting := event.Message.GetProtocolMessage(); !event.Info.IsGroup && setting.GetType() == waE2E.ProtocolMessage_EPHEMERAL_SETTING {
		return s.chats.Disappearing(wire.ChatOf(event.Info.MessageSource), setting.GetEphemeralExpiration(), event.Info.Timestamp)
	}
	if event.Message.GetPollUpdateMessage() != nil {
		return s.voteArrived(event)
	}
	if event.Message.GetEncEventResponseMessage() != nil {
		return s.responseArrived(event)
	}
	s.unlock(event)
	incoming, err := wire.IncomingOf(event, s.line.Self(), s.line.Now(), s.line.Other)
	if err != nil {
		return s.line.Kept(err, "message", slog.String("platform_id", event.Info.ID))
	}
	switch incoming := withUsername(incoming, username).(type) {
	case nil:
		return true
	case gateway.Change:
		return s.changeArrived(event, incoming)
	default:
		// One transaction keeps the message and the keys that its decryption has changed.
		ctx := keys.Keeping(s.ctx, s.line.Client().Store)
		return s.line.Kept(s.line.Deliver(ctx, incoming), "message", slog.String("platform_id", event.Info.ID))
	}
}

// usernameOf is the username that came with a message of somebody else, whatever the message holds;
// empty for none. It is known of its author from then on. The addresses must be those of the stanza.
func (s *session) usernameOf(info *types.MessageInfo) string {
	username := s.usernames.Of(info.Sender, info.ID)
	if username == "" || info.IsFromMe {
		return ""
	}
	if err := keys.PutUsername(s.ctx, s.line.Client().Store, info.Sender.ToNonAD(), username); err != nil && s.ctx.Err() == nil {
		s.logger.WarnContext(s.ctx, "username not kept", slog.Any("error", err))
	}
	return username
}

// withUsername adds the username of its sender to a message.
func withUsername(incoming gateway.Incoming, username string) gateway.Incoming {
	if message, ok := incoming.(gateway.Message); ok {
		message.SenderUsername = username
		return message
	}
	return incoming
}

// unavailableArrived keeps a message that the platform withholds from linked devices on
// purpose. Any other message that could not be decrypted is not kept: whatsmeow has asked
// its sender, or the account's phone, for it again.
func (s *session) unavailableArrived(event *events.UndecryptableMessage) bool {
	if !event.IsUnavailable || event.UnavailableType == events.UnavailableTypeUnknown || !wire.IsChat(event.Info.MessageSource) {
		s.logger.WarnContext(s.ctx, "message not decrypted; it was asked for again",
			slog.String("platform_id", event.Info.ID))
		return true
	}
	username := s.usernameOf(&event.Info)
	s.line.Complete(&event.Info.MessageSource)
	return s.line.Receive(withUsername(wire.UnavailableOf(event, s.line.Self(), s.line.Now()), username), "unavailable message",
		slog.String("platform_id", event.Info.ID))
}

func typeName(value any) string { return fmt.Sprintf("%T", value) }
