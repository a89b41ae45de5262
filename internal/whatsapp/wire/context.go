package wire

import (
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
)

// setContext replaces the context of a message, and reports whether it has a place for
// one.
func setContext(message *waE2E.Message, about *waE2E.ContextInfo) bool {
	switch {
	case message.ExtendedTextMessage != nil:
		message.ExtendedTextMessage.ContextInfo = about
	case message.ImageMessage != nil:
		message.ImageMessage.ContextInfo = about
	case message.VideoMessage != nil:
		message.VideoMessage.ContextInfo = about
	case message.PtvMessage != nil:
		message.PtvMessage.ContextInfo = about
	case message.AudioMessage != nil:
		message.AudioMessage.ContextInfo = about
	case message.DocumentMessage != nil:
		message.DocumentMessage.ContextInfo = about
	case message.StickerMessage != nil:
		message.StickerMessage.ContextInfo = about
	case message.LocationMessage != nil:
		message.LocationMessage.ContextInfo = about
	case message.LiveLocationMessage != nil:
		message.LiveLocationMessage.ContextInfo = about
	case message.ContactMessage != nil:
		message.ContactMessage.ContextInfo = about
	case message.ContactsArrayMessage != nil:
		message.ContactsArrayMessage.ContextInfo = about
	case message.PollCreationMessage != nil:
		message.PollCreationMessage.ContextInfo = about
	case message.PollCreationMessageV2 != nil:
		message.PollCreationMessageV2.ContextInfo = about
	case message.PollCreationMessageV3 != nil:
		message.PollCreationMessageV3.ContextInfo = about
	case message.EventMessage != nil:
		message.EventMessage.ContextInfo = about
	default:
		return false
	}
	return true
}

// EncodeDisappearing writes the payload of a message that disappears after that time
// (gateway.Encoder).
func (Encoder) EncodeDisappearing(payload []byte, after time.Duration) ([]byte, error) {
	message, err := Decode(payload)
	if err != nil {
		return nil, err
	}
	content := Unwrap(message)
	if content.Conversation != nil { // which has no place for it
		content.ExtendedTextMessage, content.Conversation = &waE2E.ExtendedTextMessage{Text: content.Conversation}, nil
	}
	about := contextOf(content)
	if album := content.GetAlbumMessage(); album != nil {
		about = album.ContextInfo
	}
	if about == nil {
		about = &waE2E.ContextInfo{}
	}
	about.Expiration = new(uint32(after / time.Second)) //nolint:gosec // ten years at most
	switch {
	case content.AlbumMessage != nil:
		content.AlbumMessage.ContextInfo = about
	case content.GroupInviteMessage != nil:
		content.GroupInviteMessage.ContextInfo = about
	case !setContext(content, about):
		return payload, nil
	}
	return encode(message)
}
