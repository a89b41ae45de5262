package wire

import (
	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/gateway"
)

// changeOf reads a message that changes another one: an edit, a deletion, a reaction.
func changeOf(event *events.Message, envelope Envelope) (gateway.Change, bool) {
	change := gateway.Change{
		ID:     envelope.PlatformID,
		Chat:   envelope.Chat,
		By:     envelope.Sender,
		FromMe: envelope.FromMe,
		At:     envelope.SentAt,
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
		_, change.Text = kindOf(Unwrap(protocol.GetEditedMessage()))
		payload, err := proto.Marshal(protocol.GetEditedMessage())
		if err != nil {
			return gateway.Change{}, false // can't happen: it was just parsed
		}
		change.Payload = payload
		target = protocol.GetKey()
	default:
		return gateway.Change{}, false
	}
	change.PlatformID = target.GetID()
	change.SourceKey = "change/" + envelope.key
	return change, change.PlatformID != ""
}

// IsOwnDeletion reports whether the author of a deletion claims to have sent the message
// that it deletes.
func IsOwnDeletion(event *events.Message) bool {
	key := event.Message.GetProtocolMessage().GetKey()
	return event.Info.Edit != types.EditAttributeAdminRevoke &&
		(key.GetParticipant() == "" || key.GetFromMe() || sameUser(key.GetParticipant(), event.Info.MessageSource))
}

// sameUser reports whether an address is the sender's.
func sameUser(address string, source types.MessageSource) bool {
	who, err := types.ParseJID(address)
	return err == nil && (who.ToNonAD() == source.Sender.ToNonAD() || who.ToNonAD() == source.SenderAlt.ToNonAD())
}
