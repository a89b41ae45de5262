package gateway

import (
	"context"
	"strings"
	"time"
)

// Groups is the part of a session that is about groups. What it is asked about a group that
// this account is not in is NotFound; what only an administrator may do is Forbidden.
type Groups interface {
	OwnGroups
	GroupMembers
	GroupInvites
	Communities
}

// OwnGroups reads and changes the groups that this account is in.
type OwnGroups interface {
	// Group returns what is known about a group, with its members.
	Group(ctx context.Context, id JID) (Group, error)
	// JoinedGroups returns all groups of this account, without their members, in no order.
	// The platform is asked once in a connection; then its reports of changes are followed.
	JoinedGroups(ctx context.Context) ([]Group, error)
	// CreateGroup makes a group, and says for each person whether he is in it.
	CreateGroup(ctx context.Context, group NewGroup) (Group, []MemberResult, error)
	// ChangeGroup makes one change: exactly one field is set.
	ChangeGroup(ctx context.Context, id JID, change GroupUpdate) error
	// LeaveGroup leaves a group.
	LeaveGroup(ctx context.Context, id JID) error
}

// GroupMembers changes who is in a group, and who administers it.
type GroupMembers interface {
	// ChangeMembers does the same to each person. The results have the order of the people.
	ChangeMembers(ctx context.Context, id JID, action MemberAction, people []Party) ([]MemberResult, error)
	// JoinRequests returns who waits to be approved.
	JoinRequests(ctx context.Context, id JID) ([]JoinRequest, error)
	// AnswerJoinRequests approves or rejects people who wait. The results have the order of
	// the people.
	AnswerJoinRequests(ctx context.Context, id JID, approve bool, people []Party) ([]MemberResult, error)
}

// GroupInvites gives out invitations to groups, and follows them.
type GroupInvites interface {
	// GroupInvite returns the code of the group's link. reset makes a new one first, and the
	// old one leads nowhere any more.
	GroupInvite(ctx context.Context, id JID, reset bool) (code string, err error)
	// InvitedGroup returns the group that a code leads to, without joining it. Its error is
	// NotFound or Gone if it leads nowhere.
	InvitedGroup(ctx context.Context, code string) (Group, error)
	// JoinGroup follows a code. joined is false if an administrator has to approve first.
	JoinGroup(ctx context.Context, code string) (id JID, joined bool, err error)
}

// Communities reads and changes which groups belong to a community.
type Communities interface {
	// LinkedGroups returns the groups of a community with ID, subject, and whether it
	// announces there.
	LinkedGroups(ctx context.Context, community JID) ([]Group, error)
	// LinkGroup puts a group into a community, or takes it out.
	LinkGroup(ctx context.Context, community, group JID, linked bool) error
}

// MaxGroupMembers bounds how many members of a group are taken from the platform.
const MaxGroupMembers = 20_000

// MaxGroups bounds how many groups of an account are taken from the platform.
const MaxGroups = 10_000

// Group is what is known about a group (contract, "Group metadata").
type Group struct {
	ID           JID
	Subject      string
	Description  string // empty where there is none
	Owner        Party  // empty where unknown
	CreatedAt    time.Time
	Participants []Participant

	Size  int       // how many members it has, as far as the platform says
	Role  GroupRole // of this account
	Rules GroupRules

	Community   JID  // that it belongs to; empty for none
	IsCommunity bool // other groups belong to it
	Announces   bool // its community announces here
}

// Participant is a member of a group.
type Participant struct {
	Party Party
	Role  GroupRole
	// Address is the address under which the platform lists the member.
	Address JID
}

// GroupRules is who may do what in a group.
type GroupRules struct {
	AdminsWrite  bool          // only administrators write
	AdminsEdit   bool          // only administrators change subject, description, picture and vanishing
	AdminsAdd    bool          // only administrators add people
	Approval     bool          // who follows the link waits for an administrator
	Disappearing time.Duration // after which messages vanish; 0: never
}

// NewGroup is a group that is to be made.
type NewGroup struct {
	Subject     string
	People      []Party
	IsCommunity bool
	Community   JID // in which it is to be; empty for none
}

// GroupUpdate is a change of a group. What is nil stays.
type GroupUpdate struct {
	Subject      *string
	Description  *string // empty: none
	Picture      *[]byte // a JPEG; empty: none
	AdminsWrite  *bool
	AdminsEdit   *bool
	AdminsAdd    *bool
	Approval     *bool
	Disappearing *time.Duration // 0: never
}

// MemberAction is what is done to members of a group.
type MemberAction string

// The actions.
const (
	MembersAdd     MemberAction = "add"
	MembersRemove  MemberAction = "remove"
	MembersPromote MemberAction = "promote"
	MembersDemote  MemberAction = "demote"
)

// MemberResult is what became of an action on one person.
type MemberResult struct {
	Party      Party
	Refusal    *Error           // nil: it is done
	Invitation *GroupInvitation // for somebody who can't be added; nil for none
}

// GroupInvitation is for one person.
type GroupInvitation struct {
	Code      string
	ExpiresAt time.Time
	MessageID string // of the message with which it was sent; empty if it was not
	Failure   *Error // why it was not sent though it was wanted; nil if it was, or was not wanted
}

// InviteHost is where the links of groups lead.
const InviteHost = "chat.whatsapp.com"

// InviteLink is the link of a group with an invitation code.
func InviteLink(code string) string { return "https://" + InviteHost + "/" + code }

// maxInvite bounds the length of an invitation code.
const maxInvite = 64

// ParseInvite reads an invitation code, or the link that has one, and reports whether text
// is either.
func ParseInvite(text string) (code string, ok bool) {
	code = strings.TrimSpace(text)
	for _, scheme := range []string{"https://", "http://"} {
		code = strings.TrimPrefix(code, scheme)
	}
	code, isLink := strings.CutPrefix(code, InviteHost+"/")
	if isLink {
		code = strings.TrimPrefix(code, "invite/")
		if end := strings.IndexAny(code, "?#"); end >= 0 {
			code = code[:end]
		}
		code = strings.TrimSuffix(code, "/")
	}
	for _, c := range []byte(code) {
		switch {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '-', c == '_':
		default:
			return "", false
		}
	}
	return code, code != "" && len(code) <= maxInvite
}

// JoinRequest is somebody who waits to be approved.
type JoinRequest struct {
	Party Party
	At    time.Time
}

// GroupRole is the role of a member of a group. It is empty for an ordinary member.
type GroupRole string

// The roles of a group's administrators.
const (
	RoleSuperAdmin GroupRole = "superadmin"
	RoleAdmin      GroupRole = "admin"
)

// GroupChangeKind says what changed in a group.
type GroupChangeKind string

// The changes of a group.
const (
	GroupCreated             GroupChangeKind = "created"              // this account was put into it
	GroupSubjectChanged      GroupChangeKind = "subject"              // it has another name
	GroupDescriptionChanged  GroupChangeKind = "description"          // it has another description
	GroupPictureChanged      GroupChangeKind = "picture"              // it has another picture, or none
	GroupParticipantsAdded   GroupChangeKind = "participants_added"   // also those who joined by a link
	GroupParticipantsRemoved GroupChangeKind = "participants_removed" // also those who left
	GroupAdminsAdded         GroupChangeKind = "admins_added"
	GroupAdminsRemoved       GroupChangeKind = "admins_removed"
	GroupSettingsChanged     GroupChangeKind = "settings" // who may write, edit, add, join; vanishing messages
	GroupInviteReset         GroupChangeKind = "invite"   // its link has another code
	GroupJoinRequested       GroupChangeKind = "join_requested"
	GroupJoinRequestEnded    GroupChangeKind = "join_request_ended" // rejected, or withdrawn
	GroupLinked              GroupChangeKind = "linked"             // into a community, or a group into this one
	GroupUnlinked            GroupChangeKind = "unlinked"
	GroupDeleted             GroupChangeKind = "deleted"
)

// GroupSetting names a setting of a group.
type GroupSetting string

// The settings, as the API names them.
const (
	SettingMessages     GroupSetting = "messages"
	SettingInfo         GroupSetting = "info"
	SettingAdding       GroupSetting = "adding"
	SettingApproval     GroupSetting = "approval"
	SettingDisappearing GroupSetting = "disappearing"
	SettingOther        GroupSetting = "other" // one that the API does not have
)

// GroupChange is a change that somebody made to a group.
type GroupChange struct {
	Group        JID
	Kind         GroupChangeKind
	Actor        Party // empty where unknown
	Participants []Party
	Settings     []GroupSetting // which changed; nil for other changes
	Other        JID            // the group or community that was linked or unlinked
	At           time.Time
	// SourceKey is the same for every delivery of the change.
	SourceKey string
}

func (GroupChange) incoming() {}

// Cleaned cleans the key and the names, and bounds the time and the number of
// participants.
func (c GroupChange) Cleaned(now time.Time) Incoming {
	c.SourceKey = CleanID(c.SourceKey)
	c.Actor = c.Actor.cleaned()
	participants := make([]Party, min(len(c.Participants), MaxListed))
	for i := range participants {
		participants[i] = c.Participants[i].cleaned()
	}
	c.Participants = participants
	c.At = CleanTime(c.At, now)
	return c
}
