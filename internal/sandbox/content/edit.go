// Messages that are edited.

package content

import (
	"fmt"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"
)

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
