// The contacts whose presence a connection follows.

package caches

import (
	"sync"

	"github.com/recado-project/recado/internal/gateway"
)

// maxFollowed bounds how many contacts a connection follows.
const maxFollowed = 2048

// Followed holds the contacts whose presence a connection follows, and whether they were
// online last. The zero value is empty and ready. It is safe for concurrent use.
type Followed struct {
	mu      sync.Mutex
	online  map[gateway.JID]bool
	dropped map[gateway.JID]bool // that the platform follows all the same
}

// Clear forgets all contacts.
func (c *Followed) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.online, c.dropped = nil, nil
}

// Add adds a contact, and reports whether it is to be followed from now on: it was not
// before, and there is room.
func (c *Followed) Add(who gateway.JID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.dropped, who)
	if _, known := c.online[who]; known || len(c.online) >= maxFollowed {
		return false
	}
	if c.online == nil {
		c.online = map[gateway.JID]bool{}
	}
	c.online[who] = false
	return true
}

// Set notes whether a contact is online, and returns whether it was before.
func (c *Followed) Set(who gateway.JID, online bool) (before bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, known := c.online[who]
	if known {
		c.online[who] = online
	}
	return before
}

// Drop ignores a contact from now on, until it is added again.
func (c *Followed) Drop(who gateway.JID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.online[who]; !known {
		return
	}
	delete(c.online, who)
	if c.dropped == nil {
		c.dropped = map[gateway.JID]bool{}
	}
	if len(c.dropped) < maxFollowed {
		c.dropped[who] = true
	}
}

// Dropped reports whether a contact is to be ignored.
func (c *Followed) Dropped(who gateway.JID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dropped[who]
}
