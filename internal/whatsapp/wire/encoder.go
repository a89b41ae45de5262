package wire

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"

	"go.mau.fi/util/random"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
)

// Encoder writes and reads payloads (gateway.Encoder).
type Encoder struct {
	other func(ctx context.Context, jid types.JID) types.JID
}

var _ gateway.Encoder = Encoder{}

// NewEncoder makes an encoder. other finds the other address of somebody, the empty one
// if it is not known.
func NewEncoder(other func(ctx context.Context, jid types.JID) types.JID) Encoder {
	return Encoder{other: other}
}

// NewMessageID chooses an identifier (gateway.Encoder). Those of the web client are the
// beginning of a hash over something random; nobody can tell it from this.
func (Encoder) NewMessageID() string {
	return whatsmeow.WebMessageIDPrefix + strings.ToUpper(hex.EncodeToString(random.Bytes(randomIDBytes)))
}

// randomIDBytes is how much of an identifier is random, as the web client has it.
const randomIDBytes = 9

// Encode writes content as the platform's own clients do (gateway.Encoder).
func (Encoder) Encode(content gateway.Content) ([]byte, error) {
	message, err := newMessage(content)
	if err != nil {
		return nil, err
	}
	if content.Media != nil {
		setHandle(message, content.Media.Upload.Handle)
	}
	setAudience(message, content.Audience)
	return encode(message)
}

// EncodeUploaded writes a payload with where its file lies (gateway.Encoder).
func (Encoder) EncodeUploaded(payload []byte, upload gateway.Upload) ([]byte, error) {
	message, err := Decode(payload)
	if err != nil {
		return nil, err
	}
	if !setUpload(Unwrap(message), upload) {
		return nil, errors.New("wire: an uploaded file, and a message without one")
	}
	setHandle(message, upload.Handle)
	return encode(message)
}

// EncodeEdited writes the payload of a text with another text
// (gateway.Encoder).
func (Encoder) EncodeEdited(payload []byte, text string) ([]byte, error) {
	message, err := Decode(payload)
	if err != nil {
		return nil, err
	}
	content := Unwrap(message)
	if content.ExtendedTextMessage == nil && content.Conversation == nil {
		return nil, gateway.Errorf(gateway.Invalid, gateway.CodeMessageNotEditable, "an answer to buttons or to a list can't be edited")
	}
	amend(content, &waE2E.Message{Conversation: &text})
	return encode(message)
}

// EncodeCancelled writes the payload of a calendar event that is cancelled (gateway.Encoder).
func (Encoder) EncodeCancelled(payload []byte) ([]byte, gateway.CalendarEvent, error) {
	message, err := Decode(payload)
	if err != nil {
		return nil, gateway.CalendarEvent{}, err
	}
	content := Unwrap(message)
	if content.EventMessage == nil {
		return nil, gateway.CalendarEvent{}, errors.New("wire: a calendar event to cancel, and a message that is none")
	}
	if content.EventMessage.GetIsCanceled() {
		return payload, *eventOf(content), nil
	}
	content.EventMessage.IsCanceled = new(true)
	payload, err = encode(message)
	return payload, *eventOf(content), err
}

// EncodeForwarded writes the payload of a message that forwards another one
// (gateway.Encoder).
func (Encoder) EncodeForwarded(payload []byte) ([]byte, error) {
	message, err := Decode(payload)
	if err != nil {
		return nil, err
	}
	// Without its wrappings: the forwarded message is an ordinary one.
	content := Unwrap(message)
	dropLocalFields(content)
	content.MessageContextInfo = nil
	if pollOf(content) != nil || content.EventMessage != nil { // it is one of its own, with votes or responses of its own
		content.MessageContextInfo = newSecret()
	}
	content.SenderKeyDistributionMessage = nil
	if content.Conversation != nil {
		content.ExtendedTextMessage = &waE2E.ExtendedTextMessage{Text: content.Conversation}
		content.Conversation = nil
	}
	if file := FileOf(content); file != nil && len(file.GetMediaKey()) == 0 && file.GetDirectPath() == "" {
		return nil, gateway.Errorf(gateway.NotFound, gateway.CodeMediaNotFound, "the message has lost its file, so it can't be forwarded")
	}
	score := contextOf(content).GetForwardingScore()
	// The text names by their address those whom it mentions, and phones put the names for them.
	mentioned := contextOf(content).GetMentionedJID()
	if !setContext(content, &waE2E.ContextInfo{IsForwarded: new(true), ForwardingScore: new(score + 1), MentionedJID: mentioned}) {
		return nil, gateway.InvalidField("messageId", "names a message that can't be forwarded")
	}
	return encode(content)
}

// Describe reads what a payload holds besides its text (gateway.Encoder).
func (e Encoder) Describe(ctx context.Context, payload []byte) (gateway.Details, error) {
	message, err := Decode(payload)
	if err != nil {
		return gateway.Details{Unsupported: gateway.Damaged}, nil //nolint:nilerr // it is shown as what it is, among its neighbours
	}
	content, once := open(message)
	details := detailsOf(content, once, func(jid types.JID) types.JID {
		return e.other(ctx, jid)
	})
	details.AlbumID = albumOf(message)
	return details, nil
}

// MediaOf describes the file of a message (gateway.Encoder).
func (Encoder) MediaOf(payload []byte) (gateway.Media, bool, error) {
	message, err := Decode(payload)
	if err != nil {
		return gateway.Media{}, false, err
	}
	file := FileOf(Unwrap(message))
	if file == nil {
		return gateway.Media{}, false, nil
	}
	return mediaOf(file), true, nil
}
