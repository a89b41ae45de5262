// What a phone shares with its linked devices: settings and the address book, in
// versions, and the keys that they are encrypted with.

package keys

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"go.mau.fi/whatsmeow/store"
)

const (
	kindSyncKey      = "app state key"
	kindStateVersion = "app state"
	kindMutation     = "app state mutation"
)

// PutAppStateSyncKey writes a key, unless there is a newer one with the id.
func (k *deviceKeys) PutAppStateSyncKey(ctx context.Context, id []byte, key store.AppStateSyncKey) error {
	known, err := k.GetAppStateSyncKey(ctx, id)
	if err != nil || known != nil && known.Timestamp >= key.Timestamp {
		return err
	}
	if err := putRow(ctx, k.rows, kindSyncKey, hex.EncodeToString(id), key); err != nil {
		return err
	}
	return k.rows.save(ctx)
}

// GetAppStateSyncKey returns a key by its id; nil if there is none.
func (k *deviceKeys) GetAppStateSyncKey(ctx context.Context, id []byte) (*store.AppStateSyncKey, error) {
	value, err := k.rows.get(ctx, kindSyncKey, hex.EncodeToString(id))
	if err != nil || value == nil {
		return nil, err
	}
	return readSyncKey(value)
}

func readSyncKey(value []byte) (*store.AppStateSyncKey, error) {
	var key store.AppStateSyncKey
	if err := json.Unmarshal(value, &key); err != nil {
		return nil, fmt.Errorf("keys: read app state key: %w", err)
	}
	return &key, nil
}

type namedSyncKey struct {
	id  []byte
	key *store.AppStateSyncKey
}

// syncKeys returns all keys, the newest first.
func (k *deviceKeys) syncKeys(ctx context.Context) ([]namedSyncKey, error) {
	found, err := k.rows.list(ctx, kindSyncKey, "")
	if err != nil {
		return nil, err
	}
	all := make([]namedSyncKey, 0, len(found))
	for _, row := range found {
		id, err := hex.DecodeString(row.Name)
		if err != nil {
			return nil, fmt.Errorf("keys: read app state key: %w", err)
		}
		key, err := readSyncKey(row.Value)
		if err != nil {
			return nil, err
		}
		all = append(all, namedSyncKey{id, key})
	}
	slices.SortStableFunc(all, func(a, b namedSyncKey) int { return cmp.Compare(b.key.Timestamp, a.key.Timestamp) })
	return all, nil
}

// GetLatestAppStateSyncKeyID returns the id of the newest key; nil if there is none.
func (k *deviceKeys) GetLatestAppStateSyncKeyID(ctx context.Context) ([]byte, error) {
	all, err := k.syncKeys(ctx)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return all[0].id, nil
}

// GetAllAppStateSyncKeys returns all keys, the newest first.
func (k *deviceKeys) GetAllAppStateSyncKeys(ctx context.Context) ([]*store.AppStateSyncKey, error) {
	all, err := k.syncKeys(ctx)
	var found []*store.AppStateSyncKey
	for _, named := range all {
		found = append(found, named.key)
	}
	return found, err
}

// versioned is a value with the version that it is of.
func versioned(version uint64, value []byte) []byte {
	return append(binary.BigEndian.AppendUint64(nil, version), value...)
}

// PutAppStateVersion writes how far a collection is: its version and its hash.
func (k *deviceKeys) PutAppStateVersion(ctx context.Context, name string, version uint64, hash [128]byte) error {
	k.rows.put(ctx, kindStateVersion, nameOf(name), versioned(version, hash[:]))
	return k.rows.save(ctx)
}

// GetAppStateVersion returns how far a collection is; zeros if nothing is known of it.
func (k *deviceKeys) GetAppStateVersion(ctx context.Context, name string) (version uint64, hash [128]byte, err error) {
	value, err := k.rows.get(ctx, kindStateVersion, nameOf(name))
	if err != nil || value == nil {
		return 0, hash, err
	}
	if len(value) != 8+len(hash) {
		return 0, hash, errors.New("keys: read app state: it has another length")
	}
	return binary.BigEndian.Uint64(value), [128]byte(value[8:]), nil
}

// DeleteAppStateVersion forgets a collection, so that it is read anew.
func (k *deviceKeys) DeleteAppStateVersion(ctx context.Context, name string) error {
	k.rows.put(ctx, kindStateVersion, nameOf(name), nil)
	return k.removeAll(ctx, kindMutation, nameOf(name)+" ")
}

func mutationName(collection string, indexMAC []byte) string {
	return nameOf(collection) + " " + hex.EncodeToString(indexMAC)
}

// PutAppStateMutationMACs writes the checksums of a collection's entries, as of a version:
// the row of an entry has the newest one.
func (k *deviceKeys) PutAppStateMutationMACs(ctx context.Context, name string, version uint64, mutations []store.AppStateMutationMAC) error {
	for _, mutation := range mutations {
		entry := mutationName(name, mutation.IndexMAC)
		known, err := k.rows.get(ctx, kindMutation, entry)
		if err != nil {
			return err
		}
		if len(known) >= 8 && binary.BigEndian.Uint64(known) > version {
			continue
		}
		k.rows.put(ctx, kindMutation, entry, versioned(version, mutation.ValueMAC))
	}
	return k.rows.save(ctx)
}

// DeleteAppStateMutationMACs deletes the checksums of entries.
func (k *deviceKeys) DeleteAppStateMutationMACs(ctx context.Context, name string, indexMACs [][]byte) error {
	for _, indexMAC := range indexMACs {
		k.rows.put(ctx, kindMutation, mutationName(name, indexMAC), nil)
	}
	return k.rows.save(ctx)
}

// GetAppStateMutationMAC returns the checksum of an entry; nil if there is none.
func (k *deviceKeys) GetAppStateMutationMAC(ctx context.Context, name string, indexMAC []byte) ([]byte, error) {
	value, err := k.rows.get(ctx, kindMutation, mutationName(name, indexMAC))
	if err != nil || len(value) < 8 {
		return nil, err
	}
	return value[8:], nil
}

// ErrLater is what whatsmeow gets when it begins to read the app state by itself. It would do so
// in a goroutine of its own, where a panic ends the process, and it panics about entries that any
// device of the account can write. The session reads the same soon.
var ErrLater = errors.New("keys: the session reads the app state")

type guarded struct{}

// Guarded marks a context: whoever reads or changes the app state with it recovers from a panic.
func Guarded(ctx context.Context) context.Context { return context.WithValue(ctx, guarded{}, true) }

// guardedState is the app state of a session.
type guardedState struct {
	store.AppStateStore

	wanted func(collection string)
}

// GetAppStateVersion is what every reading of a collection begins with.
func (s guardedState) GetAppStateVersion(ctx context.Context, name string) (version uint64, hash [128]byte, err error) {
	if ctx.Value(guarded{}) == nil {
		s.wanted(name)
		return 0, hash, ErrLater
	}
	return s.AppStateStore.GetAppStateVersion(ctx, name)
}
