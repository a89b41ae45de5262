package gateway

import (
	"context"
	"time"
)

// Connector opens sessions on the messenger platform. It is safe for concurrent
// use.
type Connector interface {
	// Open prepares the session of an instance: with the keys that its device
	// names, or with new keys where that is empty or its keys are gone. All its
	// connections go through the instance's proxy, if it has one, or fail; a phone
	// that links it sees the instance's label. Nothing happens on the network before
	// Start. A session that has loaded the same keys before can't send any more.
	Open(ctx context.Context, instance Instance, lifecycle Lifecycle, receiver Receiver) (SupervisedSession, error)
	// CheckProxy reaches the platform through a proxy, within half a minute. Its error
	// is a *ProxyError.
	CheckProxy(ctx context.Context, proxy Proxy) error
	// Forget removes the keys that device names without informing the platform.
	// Keys that do not exist are no error.
	Forget(ctx context.Context, device string) error
	// Known is what the device of a linked instance knows of people. It is there whether a session
	// uses the device or not, on this node or another one, and takes nothing from it.
	Known(instance Instance) KnownPeople
	// KnownGroups returns the groups of a linked instance as a session has listed them last, in no
	// order and without their members; known is false if none has. It takes nothing from a session.
	KnownGroups(ctx context.Context, instance Instance) (groups []Group, known bool, err error)
}

// Encoder writes and reads payloads, the platform's encoding of a message's
// content. It is safe for concurrent use.
type Encoder interface {
	// NewMessageID chooses the identifier of a message before it is sent.
	NewMessageID() string
	// Encode writes content as the platform's own clients do.
	Encode(content Content) ([]byte, error)
	// EncodeUploaded writes the payload of a message with a file that was encoded before
	// the file was uploaded.
	EncodeUploaded(payload []byte, upload Upload) ([]byte, error)
	// EncodeDisappearing writes the payload of a message that disappears after that time. One
	// that has no place for it stays as it is.
	EncodeDisappearing(payload []byte, after time.Duration) ([]byte, error)
	// EncodeEdited writes the payload of a text message with another text.
	EncodeEdited(payload []byte, text string) ([]byte, error)
	// EncodeAmended writes the payload of a message as an edit, which was received, leaves it: what
	// the edit names is changed, and the rest stays.
	EncodeAmended(payload, edit []byte) (Amended, error)
	// EncodeForwarded writes the payload of a message that forwards another one:
	// its content with the platform's mark, without its quote.
	EncodeForwarded(payload []byte) ([]byte, error)
	// EncodeCancelled writes the payload of a calendar event that is cancelled, and returns
	// what it says then. The payload is the same if it was cancelled already.
	EncodeCancelled(payload []byte) ([]byte, CalendarEvent, error)
	// Describe reads what the payload of a message holds besides its text; of one that is damaged it
	// says so, and that is no error. It may
	// look people up in a database, so it must not be called while others wait for
	// a lock that the caller holds.
	Describe(ctx context.Context, payload []byte) (Details, error)
	// MediaOf describes the file of a message, and reports whether it has one.
	MediaOf(payload []byte) (Media, bool, error)
}

// ClientVersion is the version of the messenger's web client that sessions claim to be, as
// people who run the gateway see it. The platform refuses a version some months after it
// appeared.
type ClientVersion struct {
	Version string
	Source  VersionSource
	// LookedUpAt is when a newest version was found last; zero: never.
	LookedUpAt time.Time
	// RefusedSince is since when the platform refuses every version that there is to
	// claim; zero if it does not.
	RefusedSince time.Time
	// Trouble says in words why no version was found by the last look-up, or why the one
	// that was found is of no use; empty if nothing is wrong.
	Trouble string
	// NextLookUp is when the newest version is looked up next; zero: never.
	NextLookUp time.Time
}

// VersionSource says where a version of the web client comes from.
type VersionSource string

// The sources.
const (
	VersionBuiltIn  VersionSource = "built_in"  // the client library's own
	VersionLookedUp VersionSource = "looked_up" // named by the messenger's page
	VersionSet      VersionSource = "set"       // by the operator; nothing is looked up
)

// DeviceKey is one row of a device's keys: what the platform client has to remember of the
// device and of everybody that it talks to. Kind and name identify it within the device.
type DeviceKey struct {
	Device int64 // the device's number; 0 for what all devices share
	Kind   string
	Name   string
	Value  []byte // nil removes the row
	// IfAbsent leaves the row that exists as it is.
	IfAbsent bool
}

// DeviceKeyChanges are rows that have changed in memory and are not written yet.
type DeviceKeyChanges interface {
	// Rows returns the rows to write, as they are now. It is called within the transaction
	// that writes them; if that one is repeated, it is called again.
	Rows() []DeviceKey
	// Written says that what the last call of Rows returned is committed.
	Written()
}

type deviceKeysKey struct{}

// WithDeviceKeys returns a context whose call keeps something that was received, and
// writes the keys that the decryption has changed in the same transaction: neither of
// them is ever on the disk without the other.
func WithDeviceKeys(ctx context.Context, changes DeviceKeyChanges) context.Context {
	return context.WithValue(ctx, deviceKeysKey{}, changes)
}

// DeviceKeysOf returns the changes that belong to the call; nil if there are none.
func DeviceKeysOf(ctx context.Context) DeviceKeyChanges {
	changes, _ := ctx.Value(deviceKeysKey{}).(DeviceKeyChanges)
	return changes
}
