// The session's own messenger account: what others see of it, what it lets them do, and
// whom it has blocked.

package gateway

import (
	"context"
	"time"
)

// OwnAccount is the part of a session that is about its own account. It is larger than other
// ports because the platform has one protocol for all of it.
type OwnAccount interface {
	// Self returns the account's addresses and its name; empty before the session is linked.
	Self() Party
	// OwnProfile asks what others see of the account.
	OwnProfile(ctx context.Context) (OwnProfile, error)
	// ChangeProfile makes one change: exactly one field is set.
	ChangeProfile(ctx context.Context, change ProfileUpdate) error
	// Privacy asks what the account lets others see and do.
	Privacy(ctx context.Context) (Privacy, error)
	// SetPrivacy changes one setting.
	SetPrivacy(ctx context.Context, change PrivacyUpdate) error
	// Blocked returns a page of the people whom the account has blocked, in the order of
	// their addresses. The platform is asked once in a connection; then its reports of
	// changes are followed.
	Blocked(ctx context.Context, page PageRequest) (Page[Party], error)
	// SetBlocked blocks or unblocks a person.
	SetBlocked(ctx context.Context, who JID, blocked bool) error
	// StatusAudience asks who sees a status post that is written now.
	StatusAudience(ctx context.Context) (StatusAudience, error)
}

// StatusAudience is who sees the status posts of the account, as its owner has chosen on the
// phone.
type StatusAudience struct {
	Rule   AudienceRule
	People []Party // in the order of their addresses
}

// AudienceRule is what the owner has chosen.
type AudienceRule string

// The rules of an audience.
const (
	AudienceContacts AudienceRule = "contacts"        // everybody in the address book
	AudienceOnly     AudienceRule = "only"            // some people alone
	AudienceExcept   AudienceRule = "contacts_except" // the address book without some people
)

// MaxBlocked bounds how many blocked people are taken from the platform.
const MaxBlocked = 100_000

// OwnProfile is what others see of an account.
type OwnProfile struct {
	Profile

	About    string
	Business *Business // nil if the account is none
}

// Business is what a business account says of itself.
type Business struct {
	Address, Email string
	Categories     []string
	TimeZone       string // of its hours
	Hours          []BusinessHours
}

// BusinessHours is when a business is open on a day, in the platform's words.
type BusinessHours struct{ Day, Mode, Opens, Closes string }

// ProfileUpdate is a change of the profile. What is nil stays.
type ProfileUpdate struct {
	Name    *string
	About   *string // empty: none
	Picture *[]byte // a JPEG; empty: none
}

// PrivacySetting names something that an account lets others see or do.
type PrivacySetting string

// The settings, as the API names them.
const (
	PrivacyLastSeen     PrivacySetting = "lastSeen"
	PrivacyOnline       PrivacySetting = "online"
	PrivacyPicture      PrivacySetting = "profilePicture"
	PrivacyAbout        PrivacySetting = "about"
	PrivacyReadReceipts PrivacySetting = "readReceipts"
	PrivacyGroups       PrivacySetting = "groups"
	PrivacyCalls        PrivacySetting = "calls"
	PrivacyMessages     PrivacySetting = "messages"
	PrivacyDisappearing PrivacySetting = "disappearing" // has a duration in place of a choice
	PrivacyOther        PrivacySetting = "other"        // one that the API does not have
)

// PrivacyChoice is for whom a setting holds. It is empty if the platform says something
// that this program does not know.
type PrivacyChoice string

// The choices.
const (
	PrivacyAll            PrivacyChoice = "all"
	PrivacyContacts       PrivacyChoice = "contacts"
	PrivacyContactsExcept PrivacyChoice = "contacts_except" // those whom the phone excludes
	PrivacyNone           PrivacyChoice = "none"
	PrivacyKnown          PrivacyChoice = "known"
	PrivacyAsLastSeen     PrivacyChoice = "same_as_last_seen"
)

// Privacy is what an account lets others see and do.
type Privacy struct {
	Choices      map[PrivacySetting]PrivacyChoice
	Disappearing time.Duration // after which messages of new chats vanish; 0: never
}

// PrivacyUpdate is a change of one setting: of the choice, or of Disappearing if it is set.
type PrivacyUpdate struct {
	Setting      PrivacySetting
	Choice       PrivacyChoice
	Disappearing *time.Duration
}

// AccountChangeKind says what changed in the session's own account.
type AccountChangeKind string

// The changes of the account.
const (
	AccountNameChanged    AccountChangeKind = "name"
	AccountAboutChanged   AccountChangeKind = "about"
	AccountPictureChanged AccountChangeKind = "picture"
	AccountPrivacyChanged AccountChangeKind = "privacy"
	AccountBlocked        AccountChangeKind = "blocked"
	AccountUnblocked      AccountChangeKind = "unblocked"
	AccountBlockListReset AccountChangeKind = "block_list" // in a way that the platform does not name
)

// AccountChange is a change of the session's own account, here or on the phone.
type AccountChange struct {
	Kind     AccountChangeKind
	Text     string // the new name, or what it says about itself
	Settings []PrivacySetting
	People   []Party // who were blocked or unblocked
	At       time.Time
	// SourceKey is the same for every delivery of the change; empty if there is only one.
	SourceKey string
}

func (AccountChange) incoming() {}

// Cleaned cleans the key and the texts, and bounds the time and the number of people.
func (c AccountChange) Cleaned(now time.Time) Incoming {
	c.SourceKey, c.Text = CleanID(c.SourceKey), CleanText(c.Text, MaxAbout)
	people := make([]Party, min(len(c.People), MaxListed))
	for i := range people {
		people[i] = c.People[i].cleaned()
	}
	c.People = people
	c.At = CleanTime(c.At, now)
	return c
}

// The bounds of the texts of a profile, in characters, as the platform has them.
const (
	MaxProfileName = 25
	MaxAbout       = 139
)
