package gateway

import (
	"crypto/sha256"
	"time"
)

// ChangeKind says whether a change is an edit, a deletion, a reaction, a pin, or that an event is cancelled.
type ChangeKind int

// The changes of a message.
const (
	ChangeEdited ChangeKind = iota
	ChangeDeleted
	ChangeReaction
	ChangePin       // for everybody in the chat
	ChangeCancelled // of a calendar event by this instance; elsewhere that is an edit
)

// MaxPin bounds how long a message is pinned: the longest time that phones offer.
const MaxPin = 30 * 24 * time.Hour

// SentChange is a change by this account. It is kept for as long as the platform
// may refer to it: for the platform a change is a message with an identifier and
// receipts of its own. A change by this instance is kept before it is sent; of a
// change by the phone or another device only what identifies it is kept.
type SentChange struct {
	PlatformID string // of the message that carries the change
	InstanceID string
	MessageID  string // the internal identifier of the message that is changed
	Kind       ChangeKind
	By         Party  // this account
	Text       string // of an edit: the new text; of a reaction: that, empty for its removal; of a pin: for how many seconds
	Payload    []byte // of the message that carries the change
	At         time.Time
	// Confirmed says that the platform has the change, that it was applied to its
	// message and that its event was appended; until then it is not known whether
	// the platform has it.
	Confirmed bool
}

// Change is an edit or deletion of an existing message, a reaction to it, or its pin.
type Change struct {
	Kind       ChangeKind
	ID         string // the platform's identifier of the change itself
	PlatformID string // of the message that was changed
	Chat       Party
	By         Party
	FromMe     bool // by this account, on its phone or another device
	// ByAdmin says that an administrator of the group did it, using that right: the
	// platform says so, and the group's members confirm it.
	ByAdmin bool
	// Type is of an edited message: the kind of content that it has then. The session does not know it.
	Type MessageType
	Text string // of an edit: the new text
	// Event is the new content of a calendar event that was edited; nil for all others.
	Event    *CalendarEvent
	Payload  []byte // of an edit: the new content
	Reaction string // empty: the reaction was removed
	// For is how long a pin lasts, MaxPin at most; zero: the message was unpinned.
	For time.Duration
	At  time.Time
	// SourceKey is the same for every delivery of the change.
	SourceKey string
}

func (Change) incoming() {}

// Amended is the content of a message as an edit leaves it.
type Amended struct {
	Payload []byte
	Type    MessageType
	Text    string
	Event   *CalendarEvent // nil for all but calendar events
}

// Cleaned cleans the identifiers, the names and the texts, and bounds the time.
func (c Change) Cleaned(now time.Time) Incoming {
	c.ID, c.PlatformID = CleanID(c.ID), CleanID(c.PlatformID)
	c.SourceKey = CleanID(c.SourceKey)
	c.Chat, c.By = c.Chat.cleaned(), c.By.cleaned()
	c.Text = CleanText(c.Text, MaxText)
	c.Reaction = CleanName(c.Reaction)
	c.For = min(max(c.For, 0), MaxPin)
	c.At = CleanTime(c.At, now)
	return c
}

// PollVote is somebody's vote in a poll. It replaces an earlier one of the same person, and
// without a choice it takes that back.
type PollVote struct {
	PollID string // the platform's identifier of the poll
	Chat   Party
	By     Party
	FromMe bool // by this account, on its phone or another device
	// Choices are the hashes of the chosen options, as PollOption has them.
	Choices [][sha256.Size]byte
	At      time.Time
	// SourceKey is the same for every delivery of the vote.
	SourceKey string
}

func (PollVote) incoming() {}

// Cleaned cleans the identifiers and the names, and bounds the time and the list.
func (v PollVote) Cleaned(now time.Time) Incoming {
	v.PollID, v.SourceKey = CleanID(v.PollID), CleanID(v.SourceKey)
	v.Chat, v.By = v.Chat.cleaned(), v.By.cleaned()
	v.At = CleanTime(v.At, now)
	v.Choices = v.Choices[:min(len(v.Choices), MaxListed)]
	return v
}

// The responses to calendar events.
const (
	ResponseGoing    = "going"
	ResponseNotGoing = "not_going"
	ResponseMaybe    = "maybe"
)

// EventResponse is somebody's response to a calendar event. It replaces an earlier one of the
// same person.
type EventResponse struct {
	EventID     string // the platform's identifier of the event
	Chat        Party
	By          Party
	FromMe      bool   // by this account, on its phone or another device
	Response    string // one of the constants
	ExtraGuests int    // whom the person brings along
	At          time.Time
	// SourceKey is the same for every delivery of the response.
	SourceKey string
}

func (EventResponse) incoming() {}

// maxGuests bounds how many guests somebody says to bring: more than phones let people choose.
const maxGuests = 1000

// Cleaned cleans the identifiers and the names, and bounds the time and the number of guests.
func (r EventResponse) Cleaned(now time.Time) Incoming {
	r.EventID, r.SourceKey = CleanID(r.EventID), CleanID(r.SourceKey)
	r.Chat, r.By = r.Chat.cleaned(), r.By.cleaned()
	r.ExtraGuests = min(max(r.ExtraGuests, 0), maxGuests)
	r.At = CleanTime(r.At, now)
	return r
}

// StoredReaction is the reaction of one person to a message as it is kept: the last one.
type StoredReaction struct {
	MessageID string // the internal identifier of the message
	By        Party
	Reaction  string // an emoji; empty: it was taken back
	At        time.Time
}

// StoredVote is the vote of one person as it is kept.
type StoredVote struct {
	By      Party
	Choices [][sha256.Size]byte
	At      time.Time
}
