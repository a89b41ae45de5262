package whatsapp

import (
	"fmt"

	"go.mau.fi/whatsmeow/proto/waE2E"

	"github.com/recado-project/recado/internal/gateway"
)

// Encode writes content as the platform's own clients do (gateway.Connector).
func (c *Connector) Encode(content gateway.Content) ([]byte, error) {
	message, err := newMessage(content)
	if err != nil {
		return nil, err
	}
	return encode(message)
}

// EncodeEdited writes the payload of a text with another text
// (gateway.Connector).
func (c *Connector) EncodeEdited(payload []byte, text string) ([]byte, error) {
	message, err := decode(payload)
	if err != nil {
		return nil, err
	}
	switch content := unwrap(message); {
	case content.ExtendedTextMessage != nil:
		content.ExtendedTextMessage.Text = new(text)
	case content.Conversation != nil:
		content.Conversation = new(text)
	default:
		return nil, fmt.Errorf("whatsapp: edit a message that is no text")
	}
	return encode(message)
}

// EncodeForwarded writes the payload of a message that passes another one on
// (gateway.Connector).
func (c *Connector) EncodeForwarded(payload []byte) ([]byte, error) {
	message, err := decode(payload)
	if err != nil {
		return nil, err
	}
	// Without what said how to show it: what is passed on is an ordinary message.
	content := unwrap(message)
	content.MessageContextInfo = nil
	content.SenderKeyDistributionMessage = nil
	if content.Conversation != nil {
		content.ExtendedTextMessage = &waE2E.ExtendedTextMessage{Text: content.Conversation}
		content.Conversation = nil
	}
	score := contextOf(content).GetForwardingScore()
	if !setContext(content, &waE2E.ContextInfo{IsForwarded: new(true), ForwardingScore: new(score + 1)}) {
		return nil, gateway.InvalidFields(gateway.FieldError{Field: "messageId", Message: "names a message that can't be forwarded"})
	}
	return encode(content)
}

func newMessage(content gateway.Content) (*waE2E.Message, error) {
	about, err := newQuote(content.Quote)
	if err != nil {
		return nil, err
	}
	switch content.Type {
	case gateway.TypeText:
		if about == nil {
			return &waE2E.Message{Conversation: new(content.Text)}, nil
		}
		return &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{
			Text: new(content.Text), ContextInfo: about,
		}}, nil
	case gateway.TypeLocation:
		return &waE2E.Message{LocationMessage: newLocation(*content.Location, about)}, nil
	case gateway.TypeContact:
		return &waE2E.Message{ContactMessage: &waE2E.ContactMessage{
			DisplayName: new(content.Contact.FullName),
			Vcard:       new(vcard(*content.Contact)),
			ContextInfo: about,
		}}, nil
	case gateway.TypeImage, gateway.TypeVideo, gateway.TypeVoice, gateway.TypeAudio, gateway.TypeDocument, gateway.TypeSticker:
		return newMediaMessage(content, about), nil
	default:
		return nil, fmt.Errorf("whatsapp: no way to send a message of type %q", content.Type)
	}
}

func newLocation(place gateway.Location, about *waE2E.ContextInfo) *waE2E.LocationMessage {
	location := &waE2E.LocationMessage{
		DegreesLatitude:  new(place.Latitude),
		DegreesLongitude: new(place.Longitude),
		ContextInfo:      about,
	}
	if place.Name != "" {
		location.Name = new(place.Name)
	}
	if place.Address != "" {
		location.Address = new(place.Address)
	}
	return location
}

// newQuote points to the message that is answered and carries its content, which
// the recipient's phone shows above the answer.
func newQuote(quote *gateway.Quote) (*waE2E.ContextInfo, error) {
	if quote == nil {
		return nil, nil //nolint:nilnil // no quote is an ordinary case
	}
	quoted, err := decode(quote.Payload)
	if err != nil {
		return nil, err
	}
	// A quote carries no quote of its own, nor what was meant for one showing.
	quoted = unwrap(quoted)
	quoted.MessageContextInfo = nil
	setContext(quoted, nil)
	return &waE2E.ContextInfo{
		StanzaID:      new(quote.PlatformID),
		Participant:   new(string(quote.Sender)),
		QuotedMessage: quoted,
	}, nil
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
