// The groups of an instance.

package caches

import (
	"fmt"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/recado-project/recado/internal/gateway"
)

// cachedGroups bounds how many groups of one instance are held in memory.
const cachedGroups = 64

// Groups holds groups until they change. Its zero value is empty and ready. It is safe
// for concurrent use.
type Groups struct {
	mu      sync.Mutex
	groups  *lru.Cache[gateway.JID, gateway.Group]
	changes uint64
}

// Get returns a group, and whether it is held.
func (c *Groups) Get(id gateway.JID) (gateway.Group, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.groups == nil {
		return gateway.Group{}, false
	}
	return c.groups.Get(id)
}

// Seen returns the number of the last change, for Put.
func (c *Groups) Seen() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changes
}

// Put holds a group that was asked for after the change with the number since, unless
// there was another change meanwhile.
func (c *Groups) Put(group gateway.Group, since uint64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changes != since {
		return nil
	}
	if c.groups == nil {
		groups, err := lru.New[gateway.JID, gateway.Group](cachedGroups)
		if err != nil {
			return fmt.Errorf("caches: make group cache: %w", err)
		}
		c.groups = groups
	}
	c.groups.Add(group.ID, group)
	return nil
}

// Forget drops a group that has changed.
func (c *Groups) Forget(id gateway.JID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	if c.groups != nil {
		c.groups.Remove(id)
	}
}

// ForgetAll empties the cache: the platform does not always report what changed while the
// connection was down.
func (c *Groups) ForgetAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	if c.groups != nil {
		c.groups.Purge()
	}
}
