package whatsapp

import (
	"log/slog"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

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
