// Groups: asked of the platform, and who is a member or an administrator.

package whatsapp

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// groupWait bounds how long a group is asked for while something that came from it
// waits.
const groupWait = 10 * time.Second

// Group returns what is known about a group (gateway.People). It is asked for once and
// held until the platform reports a change.
func (s *session) Group(ctx context.Context, id gateway.JID) (gateway.Group, error) {
	if group, ok := s.caches.groups.Get(id); ok {
		return group, nil
	}
	jid, err := wire.ToJID(id)
	if err != nil {
		return gateway.Group{}, err
	}
	since := s.caches.groups.Seen()
	info, err := s.current().GetGroupInfo(ctx, jid)
	switch {
	case wire.IsNoGroup(err):
		return gateway.Group{}, wire.NoGroup()
	case err != nil:
		return gateway.Group{}, wire.Failure(err)
	}
	group := wire.NewGroup(info)
	return group, s.caches.groups.Put(group, since)
}

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
	group, err := s.Group(ctx, id)
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
