package gateway

import (
	"strings"
	"time"
)

// MessageStatus is how far a message has got. It only ever moves forward.
type MessageStatus int

// The statuses in their order. A message that failed can still be delivered:
// the platform may have accepted it although its acknowledgement was lost.
const (
	MessagePending   MessageStatus = iota // stored, not yet acknowledged by the platform
	MessageFailed                         // refused by the platform, or never acknowledged
	MessageSent                           // acknowledged by the platform
	MessageDelivered                      // on the recipient's phone
	MessageRead                           // seen
	MessagePlayed                         // listened to
)

// String returns the status as events and the database spell it.
func (s MessageStatus) String() string {
	switch s {
	case MessagePending:
		return "pending"
	case MessageFailed:
		return "failed"
	case MessageSent:
		return "sent"
	case MessageDelivered:
		return "delivered"
	case MessageRead:
		return "read"
	case MessagePlayed:
		return "played"
	}
	return "unknown"
}

// Source says where a message came from.
type Source string

// The sources of messages.
const (
	SourceAPI    Source = "api"    // sent through this gateway
	SourceDevice Source = "device" // sent by this account from its phone or another device
	SourcePeer   Source = "peer"   // received from somebody else
)

// Message is one message of an instance, sent or received.
type Message struct {
	ID         string // UUID v7, the internal identifier
	InstanceID string
	PlatformID string // the platform's identifier
	Chat       Party
	Sender     Party
	FromMe     bool
	Source     Source
	Type       MessageType
	Text       string // the text, or the caption
	QuotedID   string // platform identifier of the message this one answers; empty for none
	Status     MessageStatus
	StatusAt   time.Time // when it came to Status
	SentAt     time.Time // by the platform's clock where it gave one

	// Payload is the whole content in the platform's encoding, with the keys of its
	// media: forwarding, retries, quotes and downloads need it.
	Payload []byte
	// Details is what the payload says besides the text. It is not stored: it is set
	// on a message that has just arrived, and read from the payload otherwise.
	Details Details
	// SenderUsername is the name by which others find the sender without the number. It is not
	// stored: it comes with a message that has just arrived, if the platform tells it.
	SenderUsername string
	// ReadDue says that its sender is to be told that it was read, once it is stored. It is no part of the stored message.
	ReadDue bool
	// WireKey is the same for every delivery of the message, so that a second delivery
	// changes nothing. Messages with the same one have the same PlatformID. It is empty for
	// messages that were sent through this gateway.
	WireKey string

	CreatedAt time.Time
	EditedAt  time.Time // zero: never
	DeletedAt time.Time // zero: not deleted, for everyone or for this account; a deleted message has no content
	// PinnedUntil is until when it is pinned, for everybody in the chat; it may be past. Zero: it
	// is not.
	PinnedUntil time.Time
	Menu        Menu     // of a message whose options have IDs
	ClientData  string   // what the program that sent it calls it; empty for nothing
	Starred     bool     // by the account's owner, for the account alone
	Labels      []string // the IDs of its labels, in their order; only where messages are read
	// Reactions are those of everybody, in the order in which they were given; only where messages are read.
	Reactions []StoredReaction
}

// Position is where something is in the order in which the messages of an instance were
// stored. The zero position is after the newest.
type Position struct {
	At time.Time
	ID string
}

// Position is where the message is in that order.
func (m Message) Position() Position { return Position{At: m.CreatedAt, ID: m.ID} }

func (Message) incoming() {}

// Cleaned cleans the identifiers, the names and the text, and bounds the time.
func (m Message) Cleaned(now time.Time) Incoming { return m.cleaned(now) }

func (m Message) cleaned(now time.Time) Message {
	m.PlatformID, m.QuotedID = CleanID(m.PlatformID), CleanID(m.QuotedID)
	m.WireKey = CleanID(m.WireKey)
	m.Chat, m.Sender = m.Chat.cleaned(), m.Sender.cleaned()
	m.Text = CleanText(m.Text, MaxText)
	m.SentAt = CleanTime(m.SentAt, now)
	return m
}

// MessageKey names a message to the platform: what reactions, edits, deletions
// and read receipts point to.
type MessageKey struct {
	PlatformID string
	Chat       Party
	Sender     Party // who sent it
	FromMe     bool
}

// Key names the message to the platform.
func (m Message) Key() MessageKey {
	return MessageKey{PlatformID: m.PlatformID, Chat: m.Chat, Sender: m.Sender, FromMe: m.FromMe}
}

// Traffic is how many messages an instance received and sent in an hour, or in several.
type Traffic struct {
	Hour           time.Time // when it began, or the first of several
	Received, Sent int
}

// MessageRef is a message identifier as a client gives it, in one of three forms: the internal
// identifier, the platform's, or the chat with the platform's.
type MessageRef struct {
	// ID is the platform's identifier, or the internal one: both are looked up.
	ID string
	// Chat is the chat of the composite form; it decides if two chats hold the same
	// identifier. Empty in the other forms.
	Chat JID
}

// ParseMessageRef reads an identifier: the platform's, the composite
// "<chat id>_<platform identifier>" with an optional "true_" or "false_" in
// front, or the internal UUID. Every text is an identifier; whether its message exists
// shows only when it is looked up.
func ParseMessageRef(text string) MessageRef {
	text = strings.TrimSpace(text)
	cut := strings.LastIndexByte(text, '_')
	if cut < 0 {
		return MessageRef{ID: text}
	}
	chat := text[:cut]
	if rest, ok := strings.CutPrefix(chat, "true_"); ok {
		chat = rest
	} else if rest, ok := strings.CutPrefix(chat, "false_"); ok {
		chat = rest
	}
	jid, ok := ParseJID(chat)
	if !ok {
		return MessageRef{ID: text}
	}
	return MessageRef{ID: text[cut+1:], Chat: jid}
}
