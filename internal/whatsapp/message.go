// What comes in as a message: content, changes of other messages, votes in polls and responses to
// calendar events, some of them encrypted within it.

package whatsapp

import (
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
	incoming, err := wire.IncomingOf(event, username, s.line.Self(), s.line.Now(), s.line.Other)
	if err != nil {
		return s.line.Stored(err, "message", slog.String("platform_id", event.Info.ID))
	}
	switch incoming := incoming.(type) {
	case nil:
		return true
	case gateway.Change:
		return s.changeArrived(event, incoming)
	default:
		// One transaction keeps the message and the keys that its decryption has changed.
		ctx := keys.Keeping(s.ctx, s.line.Client().Store)
		return s.line.Stored(s.line.Deliver(ctx, incoming), "message", slog.String("platform_id", event.Info.ID))
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
	return s.line.Receive(wire.UnavailableOf(event, username, s.line.Self(), s.line.Now()), "unavailable message",
		slog.String("platform_id", event.Info.ID))
}

// changeArrived passes on a change of a message that its author may make, and reports
// whether it was kept.
func (s *session) changeArrived(event *events.Message, change gateway.Change) bool {
	if change.Kind == gateway.ChangeDeleted && !change.FromMe && change.Chat.JID.IsGroup() && !wire.IsOwnDeletion(event) {
		// The platform has checked an administrator's right only if the stanza says that
		// one deletes; which message is deleted stands where only we can read it.
		change.ByAdmin = event.Info.Edit == types.EditAttributeAdminRevoke && s.isAdmin(change.Chat.JID, change.By)
		if !s.line.Connected() {
			return false // the answer about the group was lost with the connection
		}
		if !change.ByAdmin {
			s.logger.InfoContext(s.ctx, "a deletion was ignored: only an administrator deletes messages of others",
				slog.String("platform_id", change.PlatformID))
			return true
		}
	}
	if change.Kind == gateway.ChangePin && !change.FromMe && !s.groups.MayPin(s.ctx, change.Chat.JID, change.By) {
		s.logger.InfoContext(s.ctx, "a pin was ignored: its author may not pin in this group", slog.String("platform_id", change.PlatformID))
		return s.line.Connected() // else the answer about the group was lost with the connection
	}
	return s.line.Receive(change, "change of a message", slog.String("platform_id", change.PlatformID))
}

// voteArrived decrypts a vote in a poll and passes it on, and reports whether it was kept. One
// that can't be decrypted is forged, or belongs to a poll from before the link.
func (s *session) voteArrived(event *events.Message) bool {
	opened, err := s.line.Client().DecryptPollVote(s.ctx, event)
	if err != nil {
		s.logger.InfoContext(s.ctx, "vote not opened", slog.String("platform_id", event.Info.ID))
		return true
	}
	vote, ok := wire.VoteOf(event, opened, s.line.Self())
	if !ok {
		return true
	}
	if group := vote.Chat.JID; group.IsGroup() && !vote.FromMe && !s.mayBeMember(group, vote.By) {
		s.logger.InfoContext(s.ctx, "a vote is ignored: its sender is not in the group", slog.String("platform_id", event.Info.ID))
		return true
	}
	return s.line.Receive(vote, "vote", slog.String("platform_id", event.Info.ID))
}

// responseArrived decrypts a response to a calendar event and passes it on, and reports whether it
// was kept. One that can't be decrypted is forged, or belongs to an event from before the link.
func (s *session) responseArrived(event *events.Message) bool {
	ignored := func(why string) bool {
		s.logger.InfoContext(s.ctx, "a response to an event is ignored", slog.String("platform_id", event.Info.ID), slog.String("why", why))
		return true
	}
	opened, err := openResponse(s.ctx, s.line.Client(), event)
	response, ok := wire.ResponseOf(event, opened, s.line.Self())
	if err != nil || !ok {
		return ignored("it can't be opened, or says nothing")
	}
	if group := response.Chat.JID; group.IsGroup() && !response.FromMe && !s.mayBeMember(group, response.By) {
		return ignored("its sender is not in the group")
	}
	return s.line.Receive(response, "response to an event", slog.String("platform_id", event.Info.ID))
}

// unlock decrypts a change that is encrypted within a message: reactions in some groups,
// and edits of some clients. whatsmeow has kept the secret for it from the message that
// it changes. A change that can't be decrypted belongs to a message from before the link,
// and stays as it is.
func (s *session) unlock(event *events.Message) {
	client := s.line.Client()
	switch {
	case event.Message.GetEncReactionMessage() != nil:
		reaction, err := client.DecryptReaction(s.ctx, event)
		if err != nil {
			s.logger.InfoContext(s.ctx, "reaction not opened", slog.String("platform_id", event.Info.ID))
			return
		}
		if reaction.GetKey() == nil {
			reaction.Key = event.Message.GetEncReactionMessage().GetTargetMessageKey()
		}
		event.Message = &waE2E.Message{ReactionMessage: reaction}
	case isEdit(event.Message.GetSecretEncryptedMessage()):
		edit, err := client.DecryptSecretEncryptedMessage(s.ctx, event)
		if err != nil {
			s.logger.InfoContext(s.ctx, "edit not opened", slog.String("platform_id", event.Info.ID))
			return
		}
		edit = wire.Unwrap(edit)
		if edit.GetProtocolMessage() == nil {
			edit = &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{
				Type:          waE2E.ProtocolMessage_MESSAGE_EDIT.Enum(),
				Key:           event.Message.GetSecretEncryptedMessage().GetTargetMessageKey(),
				EditedMessage: edit,
			}}
		}
		event.Message = edit
	}
}

// isEdit reports whether something encrypted within a message edits a message or a calendar event.
func isEdit(sealed *waE2E.SecretEncryptedMessage) bool {
	kind := sealed.GetSecretEncType()
	return kind == waE2E.SecretEncryptedMessage_MESSAGE_EDIT || kind == waE2E.SecretEncryptedMessage_EVENT_EDIT
}
