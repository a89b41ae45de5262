// Groups: who is a member or an administrator, and the changes that the platform reports.

package whatsapp

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/groups"
	"github.com/recado-project/recado/internal/whatsapp/wire"
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

// groupChanged passes on the changes of a group that are in one notification, one by
// one, and reports whether all of them were kept.
func (s *session) groupChanged(event *events.GroupInfo) bool {
	group := wire.JIDOf(event.JID)
	s.groups.Forget(group)
	parts, unknown := wire.GroupPartsOf(event)
	for _, name := range unknown {
		s.logger.InfoContext(s.ctx, "a change of a group is not reported: its kind is unknown", slog.String("change", name))
	}
	actor := s.actor(event.Sender, event.SenderPN)
	for _, part := range parts {
		kept := s.line.Receive(gateway.GroupChange{
			Group: group, Kind: part.Kind, Actor: actor, Participants: s.persons(part.People, event.Sender, actor),
			Settings: part.Settings, Other: part.Other,
			At: event.Timestamp.UTC(), SourceKey: part.SourceKey,
		}, "change of a group")
		if !kept {
			return false
		}
	}
	if vanishing := event.Ephemeral; vanishing != nil {
		seconds := vanishing.DisappearingTimer
		if !vanishing.IsEphemeral {
			seconds = 0
		}
		return s.chats.Disappearing(gateway.Party{JID: group}, seconds, event.Timestamp)
	}
	return true
}

// joinedGroup reports that this account was put into a group. Its owner may have made
// the group on the phone.
func (s *session) joinedGroup(event *events.JoinedGroup) bool {
	group := wire.JIDOf(event.JID)
	s.groups.Forget(group)
	// The platform does not say when somebody was put into an old group.
	at := s.line.Now()
	if event.Type == "new" {
		at = event.GroupCreated
	}
	change := gateway.GroupChange{
		Group: group, Kind: gateway.GroupCreated, Actor: s.actor(event.Sender, event.SenderPN),
		At: at.UTC(), SourceKey: wire.JoinedGroupKey(event),
	}
	for _, member := range event.Participants {
		other := member.PhoneNumber
		if member.JID.Server != types.HiddenUserServer {
			other = member.LID
		}
		change.Participants = append(change.Participants, s.line.Person(member.JID, other, member.DisplayName))
	}
	return s.line.Receive(change, "new group")
}

// groupPictureArrived reports another picture of a group.
func (s *session) groupPictureArrived(event *events.Picture) bool {
	change := gateway.GroupChange{
		Group: wire.JIDOf(event.JID), Kind: gateway.GroupPictureChanged,
		At: event.Timestamp.UTC(), SourceKey: wire.GroupPictureKey(event),
	}
	if !event.Author.IsEmpty() {
		change.Actor = s.line.Person(event.Author, types.EmptyJID, "")
	}
	return s.line.Receive(change, "picture of a group")
}

// actor names the author of a change, who may be unknown.
func (s *session) actor(sender, number *types.JID) gateway.Party {
	if sender == nil {
		return gateway.Party{}
	}
	other := types.EmptyJID
	if number != nil {
		other = *number
	}
	return s.line.Person(*sender, other, "")
}

// persons names people. The author of a change may be one of them.
func (s *session) persons(people []types.JID, author *types.JID, actor gateway.Party) []gateway.Party {
	parties := make([]gateway.Party, len(people))
	for i, who := range people {
		if author != nil && who == *author {
			parties[i] = actor
			continue
		}
		parties[i] = s.line.Person(who, types.EmptyJID, "")
	}
	return parties
}
