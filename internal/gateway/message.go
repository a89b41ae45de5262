package gateway

import (
	"strings"
	"time"
)

// MessageType says what a message holds (sandbox and events use the same words).
type MessageType string

// The types of messages.
const (
	TypeText        MessageType = "text"
	TypeImage       MessageType = "image"
	TypeVideo       MessageType = "video"
	TypeVoice       MessageType = "voice"
	TypeAudio       MessageType = "audio"
	TypeDocument    MessageType = "document"
	TypeLocation    MessageType = "location"
	TypeContact     MessageType = "contact"
	TypeSticker     MessageType = "sticker"
	TypePoll        MessageType = "poll"
	TypeUnsupported MessageType = "unsupported"
)

// MessageStatus is how far a message has come. It only ever moves forward.
type MessageStatus int

// The statuses in their order. A message that failed can still be delivered:
// the platform may have taken it although its acknowledgement was lost.
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

// Party is a person or group under both of its addresses; one may be unknown,
// and a group has only its chat ID.
type Party struct {
	JID  JID
	LID  JID
	Name string // display name where known
}

// Is reports whether address is one of the party's.
func (p Party) Is(address JID) bool {
	return address != "" && (address == p.JID || address == p.LID)
}

// Address is where something to the party is sent: the number where it is
// known, else the LID.
func (p Party) Address() JID {
	if p.JID != "" {
		return p.JID
	}
	return p.LID
}

// Key is the address under which things about the party are kept together: the LID where
// it is known, else the number. The number may become known between two of them, and the
// key stays the same.
func (p Party) Key() JID {
	if p.LID != "" {
		return p.LID
	}
	return p.JID
}

func (p Party) cleaned() Party {
	p.Name = CleanName(p.Name)
	return p
}

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

	// Payload is the whole content in the connector's own encoding, with the
	// keys of its media: what forwarding, retries, quotes and downloads need.
	Payload []byte
	// Details is what the payload says besides the text. It is not stored: it is set
	// on a message that has just arrived, and read from the payload otherwise.
	Details Details
	// WireKey names the delivery by which the message came, so that a second
	// one of the same message changes nothing.
	WireKey string

	CreatedAt time.Time
	EditedAt  time.Time // zero: never
	DeletedAt time.Time // zero: not deleted; a deleted message has no content
}

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

// Key names the message to the platform.
func (m Message) Key() MessageKey {
	return MessageKey{PlatformID: m.PlatformID, Chat: m.Chat, Sender: m.Sender, FromMe: m.FromMe}
}

// MessageRef is a message identifier as a client gives it, in one of three
// forms (design note on the API, "Identifiers").
type MessageRef struct {
	// ID is the platform's identifier, or the internal one: both are looked up.
	ID string
	// Chat is the chat of the composite form; it decides where two chats hold
	// the same identifier. Empty otherwise.
	Chat JID
}

// ParseMessageRef reads an identifier: the platform's, the composite
// "<chat id>_<platform identifier>" with an optional "true_" or "false_" in
// front, or the internal UUID. Every text is one; whether it exists is for the
// look-up to say.
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
