package whatsapp

import (
	"context"
	"errors"
	"fmt"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
)

// cachedGroups bounds how many groups of one instance are held in memory.
const cachedGroups = 64

// Group returns what is known about a group (gateway.Session). It is asked for
// once and kept until the platform tells of a change.
func (s *session) Group(ctx context.Context, id gateway.JID) (gateway.Group, error) {
	if group, ok := s.groups.get(id); ok {
		return group, nil
	}
	jid, err := toJID(id)
	if err != nil {
		return gateway.Group{}, err
	}
	since := s.groups.seen()
	info, err := s.current().GetGroupInfo(ctx, jid)
	switch {
	case isNoGroup(err):
		return gateway.Group{}, noGroup()
	case err != nil:
		return gateway.Group{}, sendError(err)
	}
	group := newGroup(info)
	return group, s.groups.put(group, since)
}

// isNoGroup reports whether whatsmeow says that a group is not there, or not for
// this account.
func isNoGroup(err error) bool {
	return errors.Is(err, whatsmeow.ErrGroupNotFound) || errors.Is(err, whatsmeow.ErrNotInGroup)
}

func noGroup() error {
	return gateway.Errorf(gateway.NotFound, gateway.CodeGroupNotFound, "there is no such group, or this account is not in it")
}

func newGroup(info *types.GroupInfo) gateway.Group {
	group := gateway.Group{
		ID:           jidOf(info.JID),
		Subject:      gateway.CleanName(info.Name),
		Description:  gateway.CleanText(info.Topic, gateway.MaxText),
		Owner:        partyOf(info.OwnerJID, info.OwnerPN, ""),
		CreatedAt:    info.GroupCreated.UTC(),
		Participants: make([]gateway.Participant, len(info.Participants)),
	}
	for i, member := range info.Participants {
		participant := gateway.Participant{Party: partyOf(member.JID, member.PhoneNumber, gateway.CleanName(member.DisplayName))}
		if member.JID.Server != types.HiddenUserServer {
			participant.Party = partyOf(member.JID, member.LID, gateway.CleanName(member.DisplayName))
		}
		switch {
		case member.IsSuperAdmin:
			participant.Role = gateway.RoleSuperAdmin
		case member.IsAdmin:
			participant.Role = gateway.RoleAdmin
		}
		group.Participants[i] = participant
	}
	return group
}

// groupCache holds groups until they change. Its zero value is empty and ready.
type groupCache struct {
	mu      sync.Mutex
	groups  *lru.Cache[gateway.JID, gateway.Group]
	changes uint64
}

func (c *groupCache) get(id gateway.JID) (gateway.Group, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.groups == nil {
		return gateway.Group{}, false
	}
	return c.groups.Get(id)
}

// seen returns the number of the last change.
func (c *groupCache) seen() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changes
}

// put keeps a group that was asked for after that change, unless there was
// another one since.
func (c *groupCache) put(group gateway.Group, since uint64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changes != since {
		return nil
	}
	if c.groups == nil {
		groups, err := lru.New[gateway.JID, gateway.Group](cachedGroups)
		if err != nil {
			return fmt.Errorf("whatsapp: make group cache: %w", err)
		}
		c.groups = groups
	}
	c.groups.Add(group.ID, group)
	return nil
}

func (c *groupCache) forget(id gateway.JID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	if c.groups != nil {
		c.groups.Remove(id)
	}
}

// forgetAll empties the cache: what changed while the connection was down is not
// always told.
func (c *groupCache) forgetAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	if c.groups != nil {
		c.groups.Purge()
	}
}
