package wire

import (
	"strings"
	"time"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
)

// GroupPart is one kind of change in a notification about a group.
type GroupPart struct {
	Kind   gateway.GroupChangeKind
	People []types.JID // whom it concerns
	// SourceKey is the same for every delivery of the change.
	SourceKey string
}

// GroupPartsOf lists the changes of a notification, and the names of those that are not
// known here.
func GroupPartsOf(event *events.GroupInfo) (parts []GroupPart, unknown []string) {
	for _, part := range groupParts(event) {
		parts = append(parts, GroupPart{
			Kind: part.kind, People: part.people, SourceKey: groupKey(event.JID, event.Timestamp, part),
		})
	}
	for _, change := range event.UnknownChanges {
		if !groupSettings[change.Tag] {
			unknown = append(unknown, change.Tag)
		}
	}
	return parts, unknown
}

// JoinedGroupKey is the source key of having been put into a group.
func JoinedGroupKey(event *events.JoinedGroup) string {
	return groupKey(event.JID, event.GroupCreated, groupPart{kind: gateway.GroupCreated, value: event.ParticipantVersionID})
}

// GroupPictureKey is the source key of another picture of a group.
func GroupPictureKey(event *events.Picture) string {
	return groupKey(event.JID, event.Timestamp, groupPart{kind: gateway.GroupPictureChanged, value: event.PictureID})
}

// groupPart is one kind of change in a notification.
type groupPart struct {
	kind   gateway.GroupChangeKind
	people []types.JID
	value  string // what is new, so that another change in the same second is told apart
}

// groupSettings are the settings of a group for which whatsmeow has no type.
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

// settingsOf names the settings that a notification changes, empty for none.
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

// groupKey makes a key that is the same for every delivery of a change: whatsmeow does not
// pass on the notification's own identifier.
func groupKey(group types.JID, at time.Time, part groupPart) string {
	values := make([]string, 0, len(part.people)+1)
	for _, who := range part.people {
		values = append(values, who.ToNonAD().String())
	}
	values = append(values, part.value)
	return "group/" + group.User + "/" + stamp(at) + "/" + string(part.kind) + "/" + digest(values...)
}
