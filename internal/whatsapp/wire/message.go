package wire

import (
	"fmt"
	"time"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/gateway"
)

// UnavailableOf makes the message that stands for one that the platform withholds from
// linked devices on purpose. It never gets content.
func UnavailableOf(event *events.UndecryptableMessage, self gateway.Party, now time.Time) gateway.Message {
	message := EnvelopeOf(&event.Info, self).message(now)
	withoutContent(&message, "unavailable:"+string(event.UnavailableType))
	return message
}

// tooLarge stands for content that is not kept because of its size.
const tooLarge = "too_large"

// IncomingOf translates what arrived as a message: a gateway.Change, or a
// gateway.Message, with its content cleaned. It is nil for content that shows a person nothing.
// other finds the other address of somebody.
func IncomingOf(event *events.Message, self gateway.Party, now time.Time, other func(types.JID) types.JID) (gateway.Incoming, error) {
	CleanContent(event.Message)
	envelope := EnvelopeOf(&event.Info, self)
	if change, ok := changeOf(event, envelope); ok {
		return change, nil
	}
	message, ok, err := messageOf(event, envelope, now, other)
	if err != nil || !ok {
		return nil, err
	}
	return message, nil
}

// MessageOf translates a message of a history, and reports whether it is one.
func MessageOf(
	event *events.Message, self gateway.Party, now time.Time, other func(types.JID) types.JID,
) (message gateway.Message, ok bool, err error) {
	return messageOf(event, EnvelopeOf(&event.Info, self), now, other)
}

func messageOf(
	event *events.Message, envelope Envelope, now time.Time, other func(types.JID) types.JID,
) (message gateway.Message, ok bool, err error) {
	sent := withoutCopy(event.RawMessage)
	if sent == nil {
		return gateway.Message{}, false, nil
	}
	message = envelope.message(now)
	if small := CleanContent(sent); !small {
		withoutContent(&message, tooLarge)
		return message, true, nil
	}
	content, once := open(sent)
	message.Type, message.Text = kindOf(content)
	message.Details = detailsOf(content, once, other)
	message.Details.AlbumID = albumOf(sent)
	if message.Type == gateway.TypeUnsupported && message.Details.Unsupported == "" {
		return gateway.Message{}, false, nil
	}
	message.QuotedID = contextOf(content).GetStanzaID()
	message.Payload, err = proto.MarshalOptions{AllowPartial: true}.Marshal(sent) // of a history, which may lack something
	if err != nil {
		return gateway.Message{}, false, fmt.Errorf("wire: write payload: %w", err)
	}
	return message, true, nil
}

// withoutContent makes a message one of a kind that is not supported, without content.
func withoutContent(message *gateway.Message, kind string) {
	message.Type, message.Payload, message.Details.Unsupported = gateway.TypeUnsupported, []byte{}, kind
}
