// The groups of an instance.

package caches

import (
	"fmt"
	"maps"
	"slices"
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

	list  map[gateway.JID]gateway.Group // of all groups, without their members; nil: not known
	stale map[gateway.JID]struct{}      // groups of the list that have changed; nil: nobody has asked for the list
	round uint64                        // of ForgetAll
	edits uint64                        // of the list
}

// List returns all groups without their members, and which of them have changed since they
// were asked for, or are new. known is false if the list has to be asked for.
func (c *Groups) List() (groups []gateway.Group, stale []gateway.JID, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.list == nil {
		return nil, nil, false
	}
	return slices.Collect(maps.Values(c.list)), slices.Collect(maps.Keys(c.stale)), true
}

// Edits returns a number that is another one whenever the list is.
func (c *Groups) Edits() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.edits
}

// Listing notes that the list is being asked for: what changes from now on is stale in it.
// It returns a number for PutList.
func (c *Groups) Listing() (round uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stale = map[gateway.JID]struct{}{}
	return c.round
}

// PutList holds the list that was asked for after Listing, unless the connection was lost
// meanwhile.
func (c *Groups) PutList(groups []gateway.Group, round uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.round != round {
		return
	}
	c.edits++
	c.list = make(map[gateway.JID]gateway.Group, len(groups))
	for _, group := range groups {
		group.Participants = nil
		c.list[group.ID] = group
	}
}

// Left drops a group that this account is not in any more.
func (c *Groups) Left(id gateway.JID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.edits++
	delete(c.list, id)
	delete(c.stale, id)
	if c.groups != nil {
		c.groups.Remove(id)
	}
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
	if c.list != nil {
		group.Participants = nil
		c.edits++
		c.list[group.ID] = group
		delete(c.stale, group.ID)
	}
	return nil
}

// Forget drops a group that has changed.
func (c *Groups) Forget(id gateway.JID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	if c.stale != nil {
		c.stale[id] = struct{}{}
	}
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
	c.round++
	c.list, c.stale = nil, nil
	if c.groups != nil {
		c.groups.Purge()
	}
}
