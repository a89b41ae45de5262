// Chats as they are kept and read.

package gateway

import "time"

// Chat is a conversation of an instance, with one person or in a group.
type Chat struct {
	ID         string // internal
	InstanceID string
	Party      Party     // with the name that was last seen; a person's is the one that stands in the messages
	LastID     string    // internal identifier of the newest message; it may be gone
	LastAt     time.Time // when that message was stored
	Unread     int       // messages that were received and not read yet
}

// ChatFilter chooses chats of an instance. The zero value chooses all.
type ChatFilter struct {
	Search string // in the name and the number; case and accents don't count
	Unread *bool  // with messages that were not read, or without; nil: both
}

// MessageFilter chooses messages of a chat. The zero value chooses all, newest first.
type MessageFilter struct {
	Before, After Position      // the zero position does not count
	Types         []MessageType // none: all
	Search        string        // words; every one is the beginning of a word in the text
	OldestFirst   bool
}
