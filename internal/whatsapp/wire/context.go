package wire

import "go.mau.fi/whatsmeow/proto/waE2E"

// contextOf returns what a message says about its own context, the quote among
// it; nil, which answers everything with nothing, where there is none.
func contextOf(message *waE2E.Message) *waE2E.ContextInfo {
	for _, part := range []interface{ GetContextInfo() *waE2E.ContextInfo }{
		message.GetExtendedTextMessage(), message.GetImageMessage(), message.GetVideoMessage(),
		message.GetAudioMessage(), message.GetDocumentMessage(), message.GetStickerMessage(),
		message.GetLocationMessage(), message.GetLiveLocationMessage(), message.GetContactMessage(),
		message.GetContactsArrayMessage(), message.GetPtvMessage(), pollOf(message),
	} {
		if info := part.GetContextInfo(); info != nil {
			return info
		}
	}
	return nil
}

// setContext replaces what a message says about its own context, and reports
// whether it has a place for it.
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
	case message.PollCreationMessageV3 != nil:
		message.PollCreationMessageV3.ContextInfo = about
	default:
		return false
	}
	return true
}
