// The usernames that come with messages.

package caches

import (
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.mau.fi/whatsmeow/types"
)

// maxUsernames bounds of how many messages of a session that were read and not handled yet the
// usernames are held: as many as whatsmeow reads ahead. Of more, the oldest are forgotten.
const maxUsernames = 2048

// Usernames are those of the senders of messages that were read and not handled yet. The zero value
// has none. It is safe for concurrent use.
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

// Take returns the username that was noted, and forgets it; empty for none.
func (u *Usernames) Take(sender types.JID, messageID string) string {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.names == nil {
		return ""
	}
	of := usernameOf{sender.ToNonAD(), messageID}
	username, _ := u.names.Peek(of)
	u.names.Remove(of)
	return username
}
