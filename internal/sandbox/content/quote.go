// The message that another one answers.

package content

import "go.mau.fi/whatsmeow/proto/waE2E"

// Quote is what a message says about the message that it answers.
type Quote struct {
	MessageID string
	Author    string // a JID, by number or by LID
	Shown     Shown  // its content; Type is "" if the message does not repeat it
}

// QuoteOf returns the quote of a message. ok is false if it answers none.
func QuoteOf(m *waE2E.Message) (quote Quote, ok bool) {
	info := contextOf(m)
	if info.GetStanzaID() == "" {
		return Quote{}, false
	}
	quote = Quote{MessageID: info.GetStanzaID(), Author: info.GetParticipant()}
	if repeated := info.GetQuotedMessage(); repeated != nil {
		Describe(Unwrap(repeated), &quote.Shown)
	}
	return quote, true
}

// contextOf returns what a message says about its place among others, or nil.
func contextOf(m *waE2E.Message) *waE2E.ContextInfo {
	inner, _ := ViewOnce(Unwrap(m))
	if part, _ := MediaOf(inner); part != nil {
		return part.GetContextInfo()
	}
	switch {
	case inner.GetExtendedTextMessage() != nil:
		return inner.GetExtendedTextMessage().GetContextInfo()
	case inner.GetLocationMessage() != nil:
		return inner.GetLocationMessage().GetContextInfo()
	case inner.GetContactMessage() != nil:
		return inner.GetContactMessage().GetContextInfo()
	case inner.GetEventMessage() != nil:
		return inner.GetEventMessage().GetContextInfo()
	default:
		return pollOf(inner).GetContextInfo()
	}
}
