package gateway

import "time"

// Details is what a message holds besides its text, as events tell it. Which
// fields count is the type's to say.
type Details struct {
	Media     *Media // of image, video, voice, audio, document and sticker; without what the platform's upload gave
	ViewOnce  bool
	Location  *Location
	Contacts  []ContactCard
	Forwarded bool
	Mentions  []Party
	// Unsupported is the platform's name for a kind of message that this program
	// does not know; empty for the kinds that it does.
	Unsupported string
}

// ContactPresence is what a contact shows: that it types in a chat, or whether
// it is there at all.
type ContactPresence struct {
	From     Party
	Chat     Party // where it types; From itself in a direct chat, or for available and unavailable
	Presence Presence
	LastSeen time.Time // with unavailable, where the contact shows it; else zero
	At       time.Time
}

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

// GroupChange is what somebody did to a group.
type GroupChange struct {
	Group        JID
	Kind         GroupChangeKind
	Actor        Party // empty where unknown
	Participants []Party
	At           time.Time
	// SourceKey is the same for every delivery of the change.
	SourceKey string
}

// ContactChange is news about a contact: its name, its picture, or the other one
// of its addresses.
type ContactChange struct {
	Contact Party
	At      time.Time
	// SourceKey is the same for every delivery of the change.
	SourceKey string
}

// Call is a call that rings.
type Call struct {
	ID    string // the platform's
	From  Party
	Chat  Party // the caller, or the group that is called
	Video bool
	At    time.Time
}

// Restriction is the platform's word that this account may not write to new
// contacts for now.
type Restriction struct {
	Until     time.Time // zero where unknown
	Recipient Party     // the message to whom was refused; empty where the platform tells it unasked
	At        time.Time
}
