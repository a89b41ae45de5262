// Content of kinds that clients need not understand.

package content

import (
	"crypto/rand"
	"slices"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/recado-project/recado/internal/sandbox/refusal"
)

// The kinds of unsupported messages.
const (
	kindPin    = "pin"    // a message was pinned
	kindFuture = "future" // of a version of the protocol that does not exist yet
)

// futureField is a field number that the protocol does not use.
const futureField = 9999

// composePoll builds a poll. Its text is the question.
func composePoll(m Outgoing, reply *waE2E.ContextInfo) (*waE2E.Message, error) {
	if m.Text == "" {
		return nil, refusal.Invalidf("text", "must not be empty")
	}
	if len(m.Options) < 2 || slices.Contains(m.Options, "") {
		return nil, refusal.Invalidf("options", "must be at least two texts")
	}
	if m.MaxAnswers < 0 || m.MaxAnswers > len(m.Options) {
		return nil, refusal.Invalidf("maxAnswers", "must be at most the number of options; 0 is any number")
	}
	poll := &waE2E.PollCreationMessage{
		Name: &m.Text, SelectableOptionsCount: new(uint32(m.MaxAnswers)), ContextInfo: reply, //nolint:gosec // it is in range
	}
	for _, option := range m.Options {
		poll.Options = append(poll.Options, &waE2E.PollCreationMessage_Option{OptionName: &option})
	}
	secret := make([]byte, secretBytes)
	rand.Read(secret)
	message := &waE2E.Message{MessageContextInfo: &waE2E.MessageContextInfo{MessageSecret: secret}}
	if m.MaxAnswers == 1 { // which phones write as a kind of its own
		message.PollCreationMessageV3 = poll
	} else {
		message.PollCreationMessage = poll
	}
	return message, nil
}

// composeUnsupported builds a message of a kind that clients may not know.
func composeUnsupported(m Outgoing) (*waE2E.Message, error) {
	switch m.Kind {
	case kindPin:
		return &waE2E.Message{PinInChatMessage: &waE2E.PinInChatMessage{Type: waE2E.PinInChatMessage_PIN_FOR_ALL.Enum()}}, nil
	case "", kindFuture:
		message := &waE2E.Message{}
		message.ProtoReflect().SetUnknown(protowire.AppendString(protowire.AppendTag(nil, futureField, protowire.BytesType), m.Text))
		return message, nil
	default:
		return nil, refusal.Invalidf("kind", "must be one of pin, future")
	}
}

// pollOf returns the poll in a message, or nil.
func pollOf(m *waE2E.Message) *waE2E.PollCreationMessage {
	for _, poll := range []*waE2E.PollCreationMessage{
		m.GetPollCreationMessage(), m.GetPollCreationMessageV2(), m.GetPollCreationMessageV3(), m.GetPollCreationMessageV5(),
	} {
		if poll != nil {
			return poll
		}
	}
	return nil
}

// isUnsupported reports whether phones show only that the message exists.
func isUnsupported(m *waE2E.Message) bool {
	return m.GetPinInChatMessage() != nil || len(m.ProtoReflect().GetUnknown()) > 0
}
