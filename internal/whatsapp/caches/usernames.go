// The usernames that come with messages.

package caches

import (
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.mau.fi/whatsmeow/types"
)

// maxUsernames bounds of how many messages of a session the usernames are held: as many as whatsmeow
// reads ahead, so those that were not handled yet are among them. Of more, the oldest are forgotten.
const maxUsernames = 2048

// Usernames are those of the senders of the messages that were read last. The zero value has none. It
// is safe for concurrent use.
type Usernames struct {
	mu    sync.Mutex
	names *lru.Cache[usernameOf, string] // nil: none was ever put
}

// usernameOf names a message. Different people may choose the same identifier.
type usernameOf struct {
	sender types.JID
	id     string
}

// Put notes the username of the sender of a message.
func (u *Usernames) Put(sender types.JID, messageID, username string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.names == nil {
		u.names, _ = lru.New[usernameOf, string](maxUsernames) // it fails for sizes below 1 alone
	}
	u.names.Add(usernameOf{sender.ToNonAD(), messageID}, username)
}

// Of returns the username that was noted with a message; empty for none. It stays noted: whatsmeow
// calls its handler once for every part of a message, and the first one may hold keys alone.
func (u *Usernames) Of(sender types.JID, messageID string) string {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.names == nil {
		return ""
	}
	username, _ := u.names.Peek(usernameOf{sender.ToNonAD(), messageID})
	return username
}
