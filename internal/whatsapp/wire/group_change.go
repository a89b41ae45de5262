package wire

import (
	"slices"
	"strconv"
	"strings"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
)

// GroupPart is one kind of change in a notification about a group.
type GroupPart struct {
	Kind   gateway.GroupChangeKind
	People []types.JID // who are affected
	// Settings are those that changed, Other is the group that was linked or unlinked.
	Settings []gateway.GroupSetting
	Other    gateway.JID
	// SourceKey is the same for every delivery of the change.
	SourceKey string
}

// GroupPartsOf lists the changes of a notification, and the names of those that are not
// known here.
func GroupPartsOf(event *events.GroupInfo) (parts []GroupPart, unknown []string) {
	for _, part := range groupParts(event) {
		parts = append(parts, GroupPart{
			Kind: part.kind, People: part.people, Settings: part.settings, Other: part.other,
			SourceKey: groupKey(event.JID, event.Timestamp, part),
		})
	}
	for _, change := range event.UnknownChanges {
		if !groupSettings[change.Tag] && joinRequestKinds[change.Tag] == "" {
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
	kind     gateway.GroupChangeKind
	people   []types.JID
	value    string // what is new, so that another change in the same second is told apart
	settings []gateway.GroupSetting
	other    gateway.JID
}

// joinRequestKinds are the changes of who waits to join, for which whatsmeow has no type.
//
//nolint:gochecknoglobals // a table that nobody writes
var joinRequestKinds = map[string]gateway.GroupChangeKind{
	"created_membership_requests": gateway.GroupJoinRequested,
	"revoked_membership_requests": gateway.GroupJoinRequestEnded,
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
		{kind: gateway.GroupParticipantsAdded, people: event.Join, value: version},
		{kind: gateway.GroupParticipantsRemoved, people: event.Leave, value: version},
		{kind: gateway.GroupAdminsAdded, people: event.Promote, value: version},
		{kind: gateway.GroupAdminsRemoved, people: event.Demote, value: version},
	} {
		if len(list.people) > 0 {
			parts = append(parts, list)
		}
	}
	if settings, values := settingsOf(event); len(settings) > 0 {
		parts = append(parts, groupPart{kind: gateway.GroupSettingsChanged, value: values, settings: settings})
	}
	if event.NewInviteLink != nil {
		parts = append(parts, groupPart{kind: gateway.GroupInviteReset, value: *event.NewInviteLink})
	}
	for _, link := range []struct {
		kind gateway.GroupChangeKind
		to   *types.GroupLinkChange
	}{{gateway.GroupLinked, event.Link}, {gateway.GroupUnlinked, event.Unlink}} {
		if link.to != nil {
			other := JIDOf(link.to.Group.JID)
			parts = append(parts, groupPart{kind: link.kind, value: string(other), other: other})
		}
	}
	for _, change := range event.UnknownChanges {
		if kind := joinRequestKinds[change.Tag]; kind != "" {
			parts = append(parts, groupPart{kind: kind, people: joinRequesters(event, change)})
		}
	}
	if event.Delete != nil {
		parts = append(parts, groupPart{kind: gateway.GroupDeleted})
	}
	return parts
}

// joinRequesters finds who asked to join, or asks no more: those that the notification
// lists, or else the one whom it is from.
func joinRequesters(event *events.GroupInfo, change *waBinary.Node) []types.JID {
	var people []types.JID
	for _, child := range change.GetChildren() {
		who, ok := child.Attrs["jid"].(types.JID)
		if ok && !who.IsEmpty() && len(people) < gateway.MaxListed {
			people = append(people, who)
		}
	}
	if len(people) == 0 && event.Sender != nil {
		people = append(people, *event.Sender)
	}
	return people
}

// settingsOf names the settings that a notification changes, none twice, with their values
// for the key of the change.
func settingsOf(event *events.GroupInfo) (settings []gateway.GroupSetting, values string) {
	var moved []string
	add := func(setting gateway.GroupSetting, values ...string) {
		if !slices.Contains(settings, setting) {
			settings = append(settings, setting)
		}
		moved = append(moved, values...)
	}
	if event.Suspended {
		add(gateway.SettingOther, "suspended")
	}
	if event.Unsuspended {
		add(gateway.SettingOther, "unsuspended")
	}
	if event.Locked != nil {
		add(gateway.SettingInfo, "locked", onOff(event.Locked.IsLocked))
	}
	if event.Announce != nil {
		add(gateway.SettingMessages, "announce", onOff(event.Announce.IsAnnounce), event.Announce.AnnounceVersionID)
	}
	if event.Ephemeral != nil {
		add(gateway.SettingDisappearing, "ephemeral", onOff(event.Ephemeral.IsEphemeral))
		if timer := event.Ephemeral.DisappearingTimer; timer != 0 {
			add(gateway.SettingDisappearing, strconv.FormatUint(uint64(timer), 10))
		}
	}
	if event.MembershipApprovalMode != nil {
		add(gateway.SettingApproval, "approval", onOff(event.MembershipApprovalMode.IsJoinApprovalRequired))
	}
	for _, unknown := range event.UnknownChanges {
		switch {
		case unknown.Tag == "member_add_mode":
			add(gateway.SettingAdding, unknown.Tag, unknown.String())
		case groupSettings[unknown.Tag]:
			add(gateway.SettingOther, unknown.Tag, unknown.String())
		}
	}
	return settings, strings.Join(moved, " ")
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
