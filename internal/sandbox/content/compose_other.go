// Content of kinds that clients need not understand.

package content

import (
	"slices"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/recado-project/recado/internal/sandbox/refusal"
)

// The kinds of unsupported messages.
const (
	kindOrder  = "order"  // of a shop
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
	poll := &waE2E.PollCreationMessage{Name: &m.Text, SelectableOptionsCount: new(uint32(1)), ContextInfo: reply}
	for _, option := range m.Options {
		poll.Options = append(poll.Options, &waE2E.PollCreationMessage_Option{OptionName: &option})
	}
	return &waE2E.Message{PollCreationMessageV3: poll}, nil
}

// composeUnsupported builds a message of a kind that clients may not know.
func composeUnsupported(m Outgoing, reply *waE2E.ContextInfo) (*waE2E.Message, error) {
	switch m.Kind {
	case "", kindOrder:
		return &waE2E.Message{OrderMessage: &waE2E.OrderMessage{
			OrderID: new("1"), OrderTitle: new("An order"), ItemCount: new(int32(1)), Message: optional(m.Text), ContextInfo: reply,
		}}, nil
	case kindPin:
		return &waE2E.Message{PinInChatMessage: &waE2E.PinInChatMessage{Type: waE2E.PinInChatMessage_PIN_FOR_ALL.Enum()}}, nil
	case kindFuture:
		message := &waE2E.Message{}
		message.ProtoReflect().SetUnknown(protowire.AppendString(protowire.AppendTag(nil, futureField, protowire.BytesType), m.Text))
		return message, nil
	default:
		return nil, refusal.Invalidf("kind", "must be one of order, pin, future")
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

// PollOptions returns the options of a poll, or nil if the message is none.
func PollOptions(m *waE2E.Message) []string {
	inner, _ := ViewOnce(Unwrap(m))
	var options []string
	for _, option := range pollOf(inner).GetOptions() {
		options = append(options, option.GetOptionName())
	}
	return options
}

// isUnsupported reports whether phones show only that the message exists.
func isUnsupported(m *waE2E.Message) bool {
	return m.GetOrderMessage() != nil || m.GetPinInChatMessage() != nil || len(m.ProtoReflect().GetUnknown()) > 0
}
