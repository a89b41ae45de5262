// Chats as they are kept and read.

package gateway

import (
	"context"
	"time"
)

// Chat is a conversation of an instance, with one person or in a group.
type Chat struct {
	ID         string // internal
	InstanceID string
	Party      Party     // with the name that was last seen; a person's is the one that stands in the messages
	LastID     string    // internal identifier of the newest message; it may be gone
	LastAt     time.Time // when that message was stored
	Unread     int       // messages that were received and not read yet
	Labels     []string  // the IDs of its labels, in their order; only where a chat is read
	Arrangement
}

// Arrangement is how the owner of the account has arranged a chat, here or on the phone.
type Arrangement struct {
	Archived     bool
	Pinned       bool
	MutedUntil   time.Time // zero: it is not muted; MutedForever
	MarkedUnread bool      // as a reminder, whether or not there are messages to read
	Disappearing time.Duration
}

// MutedForever is the end of a mute that has none.
func MutedForever() time.Time { return time.Date(9999, time.December, 31, 0, 0, 0, 0, time.UTC) }

// ChatChange is what is changed of a chat; what is nil stays as it is.
type ChatChange struct {
	Archived, Pinned *bool
	MutedUntil       *time.Time // zero: no longer
	Read             *bool      // true: all messages that are there; false: it is marked as unread
	Disappearing     *time.Duration
}

// ChatAspect is something about a chat that can change.
type ChatAspect string

// The aspects of a chat.
const (
	ChatArchived     ChatAspect = "archived"
	ChatPinned       ChatAspect = "pinned"
	ChatMuted        ChatAspect = "muted"
	ChatRead         ChatAspect = "read" // it has other messages to read, or another mark
	ChatDisappearing ChatAspect = "disappearing"
	ChatCleared      ChatAspect = "cleared" // its messages were deleted, and it stays
	ChatDeleted      ChatAspect = "deleted"
)

// ChatAnchor is the chat that a change is about, as the account's other devices know it, with
// its newest message. They apply the change to the messages until then.
type ChatAnchor struct {
	Party Party
	Last  Message // the zero message if it is not known
}

// ChatUpdate says what the account's owner did with a chat, here or on another device.
type ChatUpdate struct {
	Chat Party
	ChatChange

	// Through bounds the messages that Read, Cleared and Deleted are about: those that were sent until
	// then. Zero: all that are there.
	Through time.Time
	// ReadIDs are the platform's identifiers of messages that were read on another device,
	// with all before them.
	ReadIDs []string
	Deleted bool // the chat was deleted, with the messages
	Cleared bool // the messages were deleted, and the chat stays
	// KeepStarred leaves messages that are starred in a chat that is cleared.
	KeepStarred bool
	At          time.Time
}

func (ChatUpdate) incoming() {}

// Cleaned cleans the identifiers, and bounds the times. It is nil for a chat without an
// address.
func (u ChatUpdate) Cleaned(now time.Time) Incoming {
	if u.Chat.Address() == "" {
		return nil
	}
	ids := make([]string, len(u.ReadIDs))
	for n, id := range u.ReadIDs {
		ids[n] = CleanID(id)
	}
	u.ReadIDs, u.Chat, u.At = ids, u.Chat.cleaned(), CleanTime(u.At, now)
	if u.MutedUntil != nil && u.MutedUntil.After(MutedForever()) {
		u.MutedUntil = new(MutedForever())
	}
	if u.Disappearing != nil && (*u.Disappearing < 0 || *u.Disappearing > maxDisappearing) {
		u.Disappearing = nil
	}
	return u
}

// MessageUpdate says what the account's owner did with a message, here or on another device, for
// the account alone: starred it, or deleted it.
type MessageUpdate struct {
	Chat       Party
	PlatformID string
	FromMe     bool
	Starred    *bool // nil: it stays as it is
	Deleted    bool
	At         time.Time
	// Earlier says that it was so before this device was told: it causes no event.
	Earlier bool
}

func (MessageUpdate) incoming() {}

// Cleaned cleans the identifiers, and bounds the time. It is nil for a message without an
// address.
func (u MessageUpdate) Cleaned(now time.Time) Incoming {
	u.PlatformID = CleanID(u.PlatformID)
	if u.Chat.Address() == "" || u.PlatformID == "" {
		return nil
	}
	u.Chat, u.At = u.Chat.cleaned(), CleanTime(u.At, now)
	return u
}

// maxDisappearing bounds after which time messages vanish: far beyond what any client sets.
const maxDisappearing = 10 * 365 * 24 * time.Hour

// ChatArrangements are how chats were arranged before the link, or while this device was not
// told. They are kept, and cause no events.
type ChatArrangements []ChatUpdate

func (ChatArrangements) incoming() {}

// Cleaned cleans every one.
func (a ChatArrangements) Cleaned(now time.Time) Incoming {
	cleaned := make(ChatArrangements, 0, len(a))
	for _, update := range a {
		if update, ok := update.Cleaned(now).(ChatUpdate); ok {
			cleaned = append(cleaned, update)
		}
	}
	return cleaned
}

// HistoryAnswer is the end of a request for older messages of a chat. The messages have come
// before.
type HistoryAnswer struct {
	RequestID string
	Chat      Party
	Answered  bool  // false: the phone did not answer in time, or its answer could not be read
	Messages  int   // that have come
	More      *bool // whether the phone has still older ones; nil: it does not say
	At        time.Time
}

func (HistoryAnswer) incoming() {}

// Cleaned cleans the identifier and the name.
func (a HistoryAnswer) Cleaned(time.Time) Incoming {
	a.RequestID, a.Chat = CleanID(a.RequestID), a.Chat.cleaned()
	return a
}

// Chats is the part of a session that arranges and labels chats, and messages, on all devices of
// the account. Its errors are PlatformFailed and PlatformTimeout, and Conflict before the phone has
// given this device its keys.
type Chats interface {
	// ChangeChat changes how a chat is arranged.
	ChangeChat(ctx context.Context, chat ChatAnchor, change ChatChange) error
	// DeleteChat deletes a chat, with its messages and files.
	DeleteChat(ctx context.Context, chat ChatAnchor) error
	// StarMessage stars a message, or takes the star away.
	StarMessage(ctx context.Context, key MessageKey, starred bool) error
	// DeleteForMe deletes a message, which was sent at a time, with its file.
	DeleteForMe(ctx context.Context, key MessageKey, sentAt time.Time) error
	// ChangeLabel changes a label. Its error is Conflict, too, if the platform refuses.
	ChangeLabel(ctx context.Context, change LabelChange) error
}

// ChatFilter chooses chats of an instance. The zero value chooses all.
type ChatFilter struct {
	Search string // in the name and the number; case and accents don't count
	Unread *bool  // with messages that were not read, or marked as unread; false: without; nil: both
	// Archived are those that are archived, or that are not; nil: both.
	Archived *bool
	Label    string // those that have the label with this ID; empty: all
}

// MessageFilter chooses messages of an instance. The zero value chooses all, newest first.
type MessageFilter struct {
	ChatID        string        // of a chat; empty: of all chats, without status posts
	Before, After Position      // the zero position does not count
	Types         []MessageType // none: all
	Starred       *bool         // that are starred, or not; nil: both
	Search        string        // words; every one is the beginning of a word in the text
	Label         string        // those that have the label with this ID; empty: all
	FromMe        *bool         // that the account wrote, or others; nil: both
	MessageID     string        // the platform's identifier; empty: any
	OldestFirst   bool

	// SentFrom and SentUntil bound when they were sent, by the platform's time. The zero time does not count.
	SentFrom, SentUntil time.Time
	// CountAll counts all of them. Without it, some thousands beyond the page are counted.
	CountAll bool
}
