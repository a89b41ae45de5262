package gateway

import "time"

// Presence is what a contact is shown about this account (contract, "presence
// allowed values").
type Presence string

// The presences. The first three belong to one chat, the last two to the
// account.
const (
	PresenceComposing   Presence = "composing"
	PresenceRecording   Presence = "recording"
	PresencePaused      Presence = "paused"
	PresenceAvailable   Presence = "available"
	PresenceUnavailable Presence = "unavailable"
)

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

// GroupRole is what a member may do in a group. The empty role is an ordinary
// member's.
type GroupRole string

// The roles of a group's administrators.
const (
	RoleSuperAdmin GroupRole = "superadmin"
	RoleAdmin      GroupRole = "admin"
)
