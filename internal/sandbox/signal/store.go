package signal

import "context"

// Kind tells the records of a Store apart.
type Kind string

// The kinds of records that a Device keeps.
const (
	KindSession   Kind = "session"    // keyed by Address
	KindIdentity  Kind = "identity"   // keyed by Address
	KindPreKey    Kind = "prekey"     // keyed by the key's number, in decimal
	KindSenderKey Kind = "sender_key" // keyed by group and Address
	KindCounter   Kind = "counter"    // keyed by what is counted
)

// Change is one record to write, or to delete where Value is nil.
type Change struct {
	Kind  Kind
	Key   string
	Value []byte
}

// Store keeps one device's records, which are opaque to it and hold private
// keys.
type Store interface {
	// Load returns the record, nil if there is none. The caller does not change
	// it.
	Load(ctx context.Context, kind Kind, key string) ([]byte, error)
	// Apply makes all changes or none. A Device calls it once at the end of an
	// operation that succeeded, never with an empty batch and never with two
	// changes of one record. The values are the Store's to keep.
	Apply(ctx context.Context, changes []Change) error
}

// recordName names a record.
type recordName struct {
	kind Kind
	key  string
}
