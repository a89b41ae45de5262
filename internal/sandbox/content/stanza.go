package content

import (
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
)

// StanzaKind returns the type attribute of a message's stanza.
func StanzaKind(m *waE2E.Message) string {
	inner := Unwrap(m)
	if inner.GetReactionMessage() != nil {
		return "reaction"
	}
	if pollOf(inner) != nil {
		return "poll"
	}
	if inner.GetEventMessage() != nil || inner.GetEncEventResponseMessage() != nil {
		return "event"
	}
	if part, _ := MediaOf(inner); part != nil || inner.GetContactMessage() != nil {
		return "media"
	}
	return "text"
}

// EditKind returns the edit attribute of a message's stanza. It is "" for messages
// that change no other message.
func EditKind(m *waE2E.Message) string {
	change := Unwrap(m).GetProtocolMessage()
	switch {
	case Unwrap(m).GetPinInChatMessage() != nil:
		return string(types.EditAttributePinInChat)
	case change == nil:
		return ""
	case change.GetType() == waE2E.ProtocolMessage_MESSAGE_EDIT:
		return string(types.EditAttributeMessageEdit)
	case change.GetType() == waE2E.ProtocolMessage_REVOKE && change.GetKey().GetFromMe():
		return string(types.EditAttributeSenderRevoke)
	case change.GetType() == waE2E.ProtocolMessage_REVOKE:
		return string(types.EditAttributeAdminRevoke)
	default:
		return ""
	}
}
