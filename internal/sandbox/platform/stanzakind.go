package platform

import (
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
)

// stanzaKind is the type that the stanza of a message carries.
func stanzaKind(m *waE2E.Message) string {
	inner := unwrap(m)
	if inner.GetReactionMessage() != nil {
		return "reaction"
	}
	if pollOf(inner) != nil {
		return "poll"
	}
	if part, _ := mediaOf(inner); part != nil || inner.GetContactMessage() != nil {
		return "media"
	}
	return "text"
}

// editKind is the mark that the stanza of a change carries, "" for other
// messages.
func editKind(m *waE2E.Message) string {
	change := unwrap(m).GetProtocolMessage()
	switch {
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
