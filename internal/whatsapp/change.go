package whatsapp

import (
	"log/slog"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/gateway"
)

// changeArrived hands a change on and reports whether it was kept.
func (s *session) changeArrived(event *events.Message, change gateway.Change) bool {
	if change.Kind == gateway.ChangeDeleted && !change.FromMe && change.Chat.JID.IsGroup() && !bySender(event) {
		// The platform has checked a deletion by an administrator's right only where the
		// stanza says that it is one; what it deletes stands where only we can read it.
		change.ByAdmin = event.Info.Edit == types.EditAttributeAdminRevoke && s.isAdmin(change.Chat.JID, change.By)
		if !s.connected() {
			return false // the answer about the group was lost with the connection
		}
		if !change.ByAdmin {
			s.logger.InfoContext(s.ctx, "a deletion is not believed: only an administrator deletes what others sent",
				slog.String("platform_id", change.PlatformID))
			return true
		}
	}
	err := s.receiver.Receive(s.ctx, change)
	return s.kept(err, "change of a message", slog.String("platform_id", change.PlatformID))
}

// bySender reports whether somebody who deletes a message says that it is his own.
func bySender(event *events.Message) bool {
	key := event.Message.GetProtocolMessage().GetKey()
	return event.Info.Edit != types.EditAttributeAdminRevoke &&
		(key.GetParticipant() == "" || key.GetFromMe() || sameUser(key.GetParticipant(), event.Info.MessageSource))
}

// sameUser reports whether an address is the sender's.
func sameUser(address string, source types.MessageSource) bool {
	who, err := types.ParseJID(address)
	return err == nil && (who.ToNonAD() == source.Sender.ToNonAD() || who.ToNonAD() == source.SenderAlt.ToNonAD())
}

// changeOf reads a message that changes another one: an edit, a deletion, a
// reaction.
func changeOf(event *events.Message, self gateway.Party) (gateway.Change, bool) {
	change := gateway.Change{
		ID:     event.Info.ID,
		Chat:   chatOf(event.Info.MessageSource),
		By:     partyOf(event.Info.Sender, event.Info.SenderAlt, event.Info.PushName),
		FromMe: event.Info.IsFromMe,
		At:     event.Info.Timestamp.UTC(),
	}
	if change.FromMe {
		change.By = self
	}
	var target *waCommon.MessageKey
	switch protocol := event.Message.GetProtocolMessage(); {
	case event.Message.GetReactionMessage() != nil:
		change.Kind = gateway.ChangeReaction
		change.Reaction = event.Message.GetReactionMessage().GetText()
		target = event.Message.GetReactionMessage().GetKey()
	case protocol == nil:
		return gateway.Change{}, false
	case protocol.GetType() == waE2E.ProtocolMessage_REVOKE:
		change.Kind = gateway.ChangeDeleted
		target = protocol.GetKey()
	case protocol.GetType() == waE2E.ProtocolMessage_MESSAGE_EDIT:
		change.Kind = gateway.ChangeEdited
		_, change.Text = kindOf(unwrap(protocol.GetEditedMessage()))
		payload, err := proto.Marshal(protocol.GetEditedMessage())
		if err != nil {
			return gateway.Change{}, false // what was just parsed can be written
		}
		change.Payload = payload
		target = protocol.GetKey()
	default:
		return gateway.Change{}, false
	}
	change.PlatformID = target.GetID()
	change.SourceKey = "change/" + string(lidFirst(change.Chat)) + "/" + string(lidFirst(change.By)) + "/" + event.Info.ID
	return change, change.PlatformID != ""
}

// unlock opens what was encrypted within a message, with a secret that whatsmeow
// keeps from the message that it changes: reactions in some groups, and edits of
// some clients. What can't be opened belongs to a message from before the link,
// and stays as it is.
func (s *session) unlock(event *events.Message) {
	client := s.current()
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
	case event.Message.GetSecretEncryptedMessage().GetSecretEncType() == waE2E.SecretEncryptedMessage_MESSAGE_EDIT:
		edit, err := client.DecryptSecretEncryptedMessage(s.ctx, event)
		if err != nil {
			s.logger.InfoContext(s.ctx, "edit not opened", slog.String("platform_id", event.Info.ID))
			return
		}
		edit = unwrap(edit)
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
