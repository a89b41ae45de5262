package gateway

import (
	"context"
	"slices"
	"time"
)

// Receiver takes what one session receives. Calls come in the order of the
// platform, one at a time; only a restriction, a change of a contact and a history
// may come from other goroutines. An implementation does one short thing and
// returns: the session stands still meanwhile.
type Receiver interface {
	// Receive keeps something that the session received. The platform is told
	// "received" only after nil; after an error it delivers most kinds again.
	Receive(ctx context.Context, incoming Incoming) error
	// SentPayload returns the payload of a message that this instance sent, or of
	// a change that it made, for a recipient who could not decrypt it; false if it
	// is not known.
	SentPayload(ctx context.Context, chat JID, platformID string) (payload []byte, ok bool)
}

// Incoming is one thing that a session received, for example a Message, a Receipt or a
// Call. Its kinds are the types of this package that implement it, and no others.
type Incoming interface {
	// Cleaned returns it safe to keep and to pass on, with every text, identifier,
	// list and time within its bounds; nil if nothing worth keeping is left. The
	// content of messages and the chat IDs must have been cleaned before.
	Cleaned(now time.Time) Incoming

	incoming() // no other package adds a kind
}

// WithoutGroups returns what of something that was received is not of groups, nil if that is nothing, and
// reports whether any of it is.
func WithoutGroups(incoming Incoming) (others Incoming, ofGroups bool) {
	var chat JID
	switch incoming := incoming.(type) {
	case History:
		return outsideGroups(incoming, func(m Message) JID { return m.Chat.JID })
	case ChatArrangements:
		return outsideGroups(incoming, func(u ChatUpdate) JID { return u.Chat.JID })
	case LabelChanges:
		return outsideGroups(incoming, func(c LabelChange) JID { return c.Chat.JID })
	case Message:
		chat = incoming.Chat.JID
	case Change:
		chat = incoming.Chat.JID
	case PollVote:
		chat = incoming.Chat.JID
	case EventResponse:
		chat = incoming.Chat.JID
	case Receipt:
		chat = incoming.Chat.JID
	case ContactPresence:
		chat = incoming.Chat.JID
	case GroupChange:
		chat = incoming.Group
	case Call:
		chat = incoming.Chat.JID
	case CallEnd:
		chat = incoming.Chat.JID
	case ChatUpdate:
		chat = incoming.Chat.JID
	case MessageUpdate:
		chat = incoming.Chat.JID
	case LabelChange:
		chat = incoming.Chat.JID
	case HistoryAnswer:
		chat = incoming.Chat.JID
	}
	if chat.IsGroup() {
		return nil, true
	}
	return incoming, false
}

// outsideGroups is WithoutGroups of a list.
func outsideGroups[L interface {
	~[]E
	Incoming
}, E any](list L, chatOf func(E) JID) (others Incoming, ofGroups bool) {
	rest := slices.DeleteFunc(slices.Clone(list), func(one E) bool { return chatOf(one).IsGroup() })
	if len(rest) == 0 {
		return nil, len(list) > 0
	}
	return rest, len(rest) < len(list)
}

// History holds messages from before the link, a bounded number at a time. They
// are kept, and cause no events.
type History []Message

func (History) incoming() {}

// Cleaned cleans every message.
func (h History) Cleaned(now time.Time) Incoming {
	cleaned := make(History, len(h))
	for i, message := range h {
		cleaned[i] = message.cleaned(now)
	}
	return cleaned
}

// Call is a call that rings.
type Call struct {
	ID    string // the platform's
	From  Party
	Chat  Party // the caller, or the group that is called
	Video bool
	At    time.Time
}

func (Call) incoming() {}

// Cleaned cleans the identifier and the names, and bounds the time.
func (c Call) Cleaned(now time.Time) Incoming {
	c.ID = CleanID(c.ID)
	c.From, c.Chat = c.From.cleaned(), c.Chat.cleaned()
	c.At = CleanTime(c.At, now)
	return c
}

// CallEnd says how a call has ended that rang.
type CallEnd struct {
	ID     string // the platform's
	From   Party
	Chat   Party // the caller, or the group that was called
	Reason CallEndReason
	At     time.Time
}

func (CallEnd) incoming() {}

// Cleaned cleans the identifier and the names, and bounds the time.
func (c CallEnd) Cleaned(now time.Time) Incoming {
	c.ID = CleanID(c.ID)
	c.From, c.Chat = c.From.cleaned(), c.Chat.cleaned()
	c.At = CleanTime(c.At, now)
	return c
}

// CallEndReason says how a call has ended.
type CallEndReason string

// The reasons.
const (
	CallRejected CallEndReason = "rejected"           // here, or on the phone
	CallMissed   CallEndReason = "missed"             // nobody answered, or the caller gave up
	CallAccepted CallEndReason = "accepted_elsewhere" // on the phone
	CallEnded    CallEndReason = "ended"              // the platform says no more
)

// Calls is the part of a session that is about calls.
type Calls interface {
	// RejectCall rejects a call that rings. Its error is NotFound if no such call rings.
	RejectCall(ctx context.Context, callID string) error
}

// Receipt says that messages have reached a later status.
type Receipt struct {
	Chat       Party
	By         Party // who received, read or played them
	MessageIDs []string
	Status     MessageStatus
	At         time.Time
}

func (Receipt) incoming() {}

// Cleaned cleans the identifiers and the names, and bounds the time.
func (r Receipt) Cleaned(now time.Time) Incoming {
	ids := make([]string, len(r.MessageIDs))
	for i, id := range r.MessageIDs {
		ids[i] = CleanID(id)
	}
	r.MessageIDs = ids
	r.Chat, r.By = r.Chat.cleaned(), r.By.cleaned()
	r.At = CleanTime(r.At, now)
	return r
}
