package signal

import "context"

// Kind is the kind of a record.
type Kind string

// The kinds of records that a Device keeps.
const (
	KindSession   Kind = "session"    // keyed by Address
	KindIdentity  Kind = "identity"   // keyed by Address
	KindPreKey    Kind = "prekey"     // keyed by the key's number, in decimal
	KindSenderKey Kind = "sender_key" // keyed by group and Address
	KindCounter   Kind = "counter"    // keyed by what is counted
)

// Change sets a record, or deletes it if Value is nil.
type Change struct {
	Kind  Kind
	Key   string
	Value []byte
}

// Store keeps the records of one device. It does not look into them. They have
// private keys.
type Store interface {
	// Load returns the record, or nil if there is none. The caller must not change
	// it.
	Load(ctx context.Context, kind Kind, key string) ([]byte, error)
	// Apply applies all changes or none. A Device calls it once, at the end of an
	// operation that succeeded. The batch is never empty and never has two changes
	// of one record. The Store may keep the values.
	Apply(ctx context.Context, changes []Change) error
}

// recordName names a record.
type recordName struct {
	kind Kind
	key  string
}
