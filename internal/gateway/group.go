package gateway

import "time"

// Group is what is known about a group (contract, "Group metadata").
type Group struct {
	ID           JID
	Subject      string
	Description  string // empty where there is none
	Owner        Party  // empty where unknown
	CreatedAt    time.Time
	Participants []Participant
}

// Participant is a member of a group.
type Participant struct {
	Party Party
	Role  GroupRole
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
	GroupSettingsChanged     GroupChangeKind = "settings" // who may write, edit, join; vanishing messages
	GroupDeleted             GroupChangeKind = "deleted"
)

// GroupChange is a change that somebody made to a group.
type GroupChange struct {
	Group        JID
	Kind         GroupChangeKind
	Actor        Party // empty where unknown
	Participants []Party
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
