// Who is a member of a group, or an administrator.

package whatsapp

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/groups"
)

// KnownGroups returns the groups of an instance as they were listed last (gateway.Connector).
func (c *Connector) KnownGroups(ctx context.Context, instance gateway.Instance) (all []gateway.Group, known bool, err error) {
	list, err := c.keys.Groups(ctx, instance.Device)
	if err != nil || list == nil {
		return nil, false, err
	}
	all, known = groups.Decode(list)
	return all, known, nil
}

// groupWait bounds how long a group is asked for while something that came from it
// waits.
const groupWait = 10 * time.Second

// isAdmin reports whether somebody administers a group, as far as that is known.
func (s *session) isAdmin(group gateway.JID, who gateway.Party) bool {
	member, known := s.member(group, who)
	return known && member != nil && member.Role != ""
}

// mayBeMember reports whether somebody is in a group, or the members are not known.
func (s *session) mayBeMember(group gateway.JID, who gateway.Party) bool {
	member, known := s.member(group, who)
	return member != nil || !known
}

// member finds somebody in a group, nil if the person is not in it. known is false if
// the platform does not say who the members are.
func (s *session) member(id gateway.JID, who gateway.Party) (member *gateway.Participant, known bool) {
	ctx, cancel := context.WithTimeout(s.ctx, groupWait)
	defer cancel()
	group, err := s.groups.Group(ctx, id)
	if err != nil {
		s.logger.InfoContext(s.ctx, "the members of a group are not known", slog.Any("error", err))
		return nil, false
	}
	n := slices.IndexFunc(group.Participants, func(p gateway.Participant) bool { return p.Party.Is(who.JID) || p.Party.Is(who.LID) })
	if n < 0 {
		return nil, true
	}
	return &group.Participants[n], true
}
