package whatsapp

import (
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"strings"
	"time"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
)

// groupChanged hands on what a notification says about a group, each kind of
// change by itself, and reports whether all of it was kept.
func (s *session) groupChanged(event *events.GroupInfo) bool {
	s.groups.forget(jidOf(event.JID))
	for _, unknown := range event.UnknownChanges {
		if !groupSettings[unknown.Tag] {
			s.logger.InfoContext(s.ctx, "a change of a group is not told: its kind is unknown", slog.String("change", unknown.Tag))
		}
	}
	var actor gateway.Party
	if event.Sender != nil {
		actor = s.person(*event.Sender, orEmpty(event.SenderPN), "")
	}
	for _, part := range groupParts(event) {
		change := gateway.GroupChange{
			Group: jidOf(event.JID), Kind: part.kind, Actor: actor,
			Participants: s.persons(part.people), At: event.Timestamp.UTC(),
			SourceKey: groupKey(event.JID, event.Timestamp, part),
		}
		if !s.kept(s.receiver.Receive(s.ctx, change), "change of a group") {
			return false
		}
	}
	return true
}

// joinedGroup tells that this account was put into a group. Its owner may have
// made the group on the phone.
func (s *session) joinedGroup(event *events.JoinedGroup) bool {
	s.groups.forget(jidOf(event.JID))
	var actor gateway.Party
	if event.Sender != nil {
		actor = s.person(*event.Sender, orEmpty(event.SenderPN), "")
	}
	// The time at which somebody was put into an old group is not told.
	at := s.connector.config.Now()
	if event.Type == "new" {
		at = event.GroupCreated
	}
	part := groupPart{kind: gateway.GroupCreated, value: event.ParticipantVersionID}
	change := gateway.GroupChange{
		Group: jidOf(event.JID), Kind: part.kind, Actor: actor, At: at.UTC(),
		SourceKey: groupKey(event.JID, event.GroupCreated, part),
	}
	for _, member := range event.Participants {
		other := member.PhoneNumber
		if member.JID.Server != types.HiddenUserServer {
			other = member.LID
		}
		change.Participants = append(change.Participants, s.person(member.JID, other, member.DisplayName))
	}
	return s.kept(s.receiver.Receive(s.ctx, change), "new group")
}

// groupPictureArrived tells of another picture of a group.
func (s *session) groupPictureArrived(event *events.Picture) bool {
	part := groupPart{kind: gateway.GroupPictureChanged, value: event.PictureID}
	change := gateway.GroupChange{
		Group: jidOf(event.JID), Kind: part.kind, At: event.Timestamp.UTC(),
		SourceKey: groupKey(event.JID, event.Timestamp, part),
	}
	if !event.Author.IsEmpty() {
		change.Actor = s.person(event.Author, types.EmptyJID, "")
	}
	return s.kept(s.receiver.Receive(s.ctx, change), "picture of a group")
}

// groupPart is one kind of change in a notification.
type groupPart struct {
	kind   gateway.GroupChangeKind
	people []types.JID
	value  string // what is new, so that another change of that second is told apart
}

// groupSettings are the switches of a group that whatsmeow has no name for.
//
//nolint:gochecknoglobals // a table that nobody writes
var groupSettings = map[string]bool{
	"member_add_mode": true, "member_link_mode": true, "no_frequently_forwarded": true,
	"frequently_forwarded_ok": true, "allow_admin_reports": true, "not_allow_admin_reports": true,
	"group_history": true, "no_group_history": true, "limit_sharing": true,
}

// groupParts lists what a notification changes.
func groupParts(event *events.GroupInfo) []groupPart {
	var parts []groupPart
	if event.Name != nil {
		parts = append(parts, groupPart{kind: gateway.GroupSubjectChanged, value: event.Name.Name})
	}
	if event.Topic != nil {
		parts = append(parts, groupPart{kind: gateway.GroupDescriptionChanged, value: event.Topic.TopicID + event.Topic.Topic})
	}
	version := event.ParticipantVersionID
	for _, list := range []groupPart{
		{gateway.GroupParticipantsAdded, event.Join, version},
		{gateway.GroupParticipantsRemoved, event.Leave, version},
		{gateway.GroupAdminsAdded, event.Promote, version},
		{gateway.GroupAdminsRemoved, event.Demote, version},
	} {
		if len(list.people) > 0 {
			parts = append(parts, list)
		}
	}
	if settings := settingsOf(event); settings != "" {
		parts = append(parts, groupPart{kind: gateway.GroupSettingsChanged, value: settings})
	}
	if event.Delete != nil {
		parts = append(parts, groupPart{kind: gateway.GroupDeleted})
	}
	return parts
}

// settingsOf names the switches that a notification moves, empty for none.
func settingsOf(event *events.GroupInfo) string {
	var moved []string
	if event.Suspended {
		moved = append(moved, "suspended")
	}
	if event.Unsuspended {
		moved = append(moved, "unsuspended")
	}
	if event.Locked != nil {
		moved = append(moved, "locked", onOff(event.Locked.IsLocked))
	}
	if event.Announce != nil {
		moved = append(moved, "announce", onOff(event.Announce.IsAnnounce), event.Announce.AnnounceVersionID)
	}
	if event.Ephemeral != nil {
		moved = append(moved, "ephemeral", onOff(event.Ephemeral.IsEphemeral))
	}
	if event.MembershipApprovalMode != nil {
		moved = append(moved, "approval", onOff(event.MembershipApprovalMode.IsJoinApprovalRequired))
	}
	if event.NewInviteLink != nil {
		moved = append(moved, "invite", *event.NewInviteLink)
	}
	// Into a community, or out of one.
	if event.Link != nil {
		moved = append(moved, "link", event.Link.Group.JID.String())
	}
	if event.Unlink != nil {
		moved = append(moved, "unlink", event.Unlink.Group.JID.String())
	}
	for _, unknown := range event.UnknownChanges {
		if groupSettings[unknown.Tag] {
			moved = append(moved, unknown.Tag, unknown.String())
		}
	}
	return strings.Join(moved, " ")
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// groupKey is the same for every delivery of a change. whatsmeow does not tell the
// notification's own identifier.
func groupKey(group types.JID, at time.Time, part groupPart) string {
	values := make([]string, 0, len(part.people)+1)
	for _, who := range part.people {
		values = append(values, who.ToNonAD().String())
	}
	values = append(values, part.value)
	return "group/" + group.User + "/" + stamp(at) + "/" + string(part.kind) + "/" + digest(values...)
}

// digest is a short text that stands for long ones.
func digest(values ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(values, "\x00")))
	return hex.EncodeToString(sum[:8])
}

func (s *session) persons(people []types.JID) []gateway.Party {
	parties := make([]gateway.Party, len(people))
	for i, who := range people {
		parties[i] = s.person(who, types.EmptyJID, "")
	}
	return parties
}

func orEmpty(jid *types.JID) types.JID {
	if jid == nil {
		return types.EmptyJID
	}
	return *jid
}
