// Content that is wrapped in other content.

package wire

import (
	"go.mau.fi/whatsmeow/proto/waE2E"
)

// maxWrappings bounds how deep content may be wrapped; clients use two at most.
const maxWrappings = 5

// withoutCopy returns the message that was sent to the chat, out of the copy that goes to
// the account's other devices.
func withoutCopy(message *waE2E.Message) *waE2E.Message {
	if inner := message.GetDeviceSentMessage().GetMessage(); inner != nil {
		return inner
	}
	return message
}

// Unwrap returns the content of a message without the wrappings that say how to show it:
// once, for a while, with a caption.
func Unwrap(message *waE2E.Message) *waE2E.Message {
	content, _ := open(message)
	return content
}

// open is Unwrap, and reports whether a wrapping allows a single look.
func open(message *waE2E.Message) (content *waE2E.Message, once bool) {
	for range maxWrappings {
		inner, onceOnly := wrapped(message)
		if inner == nil {
			break
		}
		message, once = inner, once || onceOnly
	}
	return message, once
}

// wrapped returns the content of one wrapping, nil if there is none.
func wrapped(message *waE2E.Message) (inner *waE2E.Message, once bool) {
	for _, wrapping := range []*waE2E.FutureProofMessage{
		message.GetViewOnceMessage(), message.GetViewOnceMessageV2(), message.GetViewOnceMessageV2Extension(),
	} {
		if wrapping.GetMessage() != nil {
			return wrapping.GetMessage(), true
		}
	}
	for _, wrapping := range []*waE2E.FutureProofMessage{
		message.GetEphemeralMessage(),
		message.GetDocumentWithCaptionMessage(),
		message.GetLottieStickerMessage(),
		message.GetEditedMessage(),
		message.GetAssociatedChildMessage(), // a picture of an album
		message.GetGroupMentionedMessage(),
		message.GetBotInvokeMessage(),
		message.GetPollCreationMessageV4(),
		message.GetSpoilerMessage(),
	} {
		if wrapping.GetMessage() != nil {
			return wrapping.GetMessage(), false
		}
	}
	return nil, false
}
