// Messages that are edited.

package content

import (
	"fmt"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"
)

// NewEdit returns what a phone sends to change the text or the caption of a message: of one with a
// file the caption alone. It reports whether the message has a place for one.
func NewEdit(original *waE2E.Message, text string) (edited *waE2E.Message, ok bool) {
	inner, _ := ViewOnce(Unwrap(original))
	switch {
	case TextOf(inner) != "":
		return &waE2E.Message{Conversation: &text}, true
	case inner.GetImageMessage() != nil:
		return &waE2E.Message{ImageMessage: &waE2E.ImageMessage{Caption: &text}}, true
	case inner.GetVideoMessage() != nil:
		return &waE2E.Message{VideoMessage: &waE2E.VideoMessage{Caption: &text}}, true
	case inner.GetDocumentMessage() != nil:
		caption := &waE2E.Message{DocumentMessage: &waE2E.DocumentMessage{Caption: &text}}
		return &waE2E.Message{DocumentWithCaptionMessage: &waE2E.FutureProofMessage{Message: caption}}, true
	default:
		return nil, false
	}
}

// Edit replaces the text or the caption of an encoded message. Its other parts stay as they are.
func Edit(payload []byte, edited *waE2E.Message) ([]byte, error) {
	message := &waE2E.Message{}
	if err := proto.Unmarshal(payload, message); err != nil {
		return nil, fmt.Errorf("content: decode message: %w", err)
	}
	var shown Shown
	Describe(edited, &shown)
	text := shown.Text + shown.Caption // it has only one of them
	inner, _ := ViewOnce(Unwrap(message))
	switch {
	case inner.GetExtendedTextMessage() != nil:
		inner.ExtendedTextMessage.Text = &text
	case inner.GetImageMessage() != nil:
		inner.ImageMessage.Caption = &text
	case inner.GetVideoMessage() != nil:
		inner.VideoMessage.Caption = &text
	case inner.GetDocumentMessage() != nil:
		inner.DocumentMessage.Caption = &text
	default:
		inner.Conversation = &text
	}
	encoded, err := proto.Marshal(message)
	if err != nil {
		return nil, fmt.Errorf("content: write an edit: %w", err)
	}
	return encoded, nil
}

// EditEvent replaces the calendar event of an encoded message.
func EditEvent(payload []byte, edited *waE2E.EventMessage) ([]byte, error) {
	message := &waE2E.Message{}
	if err := proto.Unmarshal(payload, message); err != nil {
		return nil, fmt.Errorf("content: decode message: %w", err)
	}
	Unwrap(message).EventMessage = edited
	encoded, err := proto.Marshal(message)
	if err != nil {
		return nil, fmt.Errorf("content: write an edit: %w", err)
	}
	return encoded, nil
}
