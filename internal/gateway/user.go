package gateway

import "time"

// Role says what a user may do.
type Role string

// The roles. Each may do all that the one before it may.
const (
	// RoleViewer reads, and changes nothing but the own password and passkeys.
	RoleViewer Role = "viewer"
	// RoleOperator works with instances, webhooks and messages.
	RoleOperator Role = "operator"
	// RoleOwner also has the API keys, the users and the audit list.
	RoleOwner Role = "owner"
)

// Roles returns all roles, the one that may do most first.
func Roles() []Role { return []Role{RoleOwner, RoleOperator, RoleViewer} }

// Covers reports whether the role may do all that other may. An unknown role covers
// nothing, and nothing covers it.
func (r Role) Covers(other Role) bool { return other.rank() > 0 && r.rank() >= other.rank() }

func (r Role) rank() int {
	switch r {
	case RoleViewer:
		return 1
	case RoleOperator:
		return 2
	case RoleOwner:
		return 3
	default:
		return 0
	}
}

// User is a person who signs in to the dashboard.
type User struct {
	ID        string // UUID v7
	AccountID string
	Name      string // to sign in with; no two differ in upper and lower case alone
	Role      Role
	// Password is the argon2id hash of the password; empty until one is set.
	Password string
	// LinkHash is the SHA-256 of the link that sets a password, LinkUntil when the link
	// ends. They are empty if there is none.
	LinkHash  []byte
	LinkUntil time.Time
	// Epoch counts how often all sign-ins of the user were ended. A sign-in of an
	// earlier epoch has ended.
	Epoch      int64
	CreatedAt  time.Time
	SignedInAt time.Time // the last time; zero: never
}

// Key returns the key with which the use cases work for the user. It is in no table,
// and what it may do is for the role to say first.
func (u User) Key() Key {
	return Key{AccountID: u.AccountID, Name: u.Name, Partner: true, CreatedAt: u.CreatedAt}
}

// SignIn is what a browser that is signed in has in the database.
type SignIn struct {
	TokenHash string // of the cookie's secret
	UserID    string // empty: nobody yet
	Data      []byte // what is remembered of the browser
	ExpiresAt time.Time
}

// Passkey is a key on a device with which a user signs in instead of the password.
type Passkey struct {
	ID         []byte // the device's own
	UserID     string
	Name       string // for people
	Credential []byte // what is needed to check a signature; JSON
	CreatedAt  time.Time
	LastUsedAt time.Time // zero: never
}

// AuditEntry says who did what in the dashboard.
type AuditEntry struct {
	ID        string // UUID v7
	AccountID string
	UserID    string // empty: a command on the machine itself
	UserName  string
	Action    string // such as instance.created
	Subject   string // the name or id of what it was done to
	Detail    string
	Address   string // the IP address that it was done from
	At        time.Time
}
