// What a patch does, decoded with the account's key.

package appstate

import (
	"bytes"
	"context"
	"fmt"

	wmstate "go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/proto/waServerSync"
	"go.mau.fi/whatsmeow/proto/waSyncAction"
	"go.mau.fi/whatsmeow/store"
	waLog "go.mau.fi/whatsmeow/util/log"
)

// maxIndex and maxIndexPart bound the index of a mutation: its parts, and each part in
// bytes.
const (
	maxIndex     = 16
	maxIndexPart = 1024
)

// Mutation is a setting that a patch sets, or removes.
type Mutation struct {
	Index   []string // its kind, and what it is about: {"pin_v1", "<chat>"}
	Removed bool
	Version int32 // of the kind of setting
	Value   *waSyncAction.SyncActionValue
}

// decode reads a patch that comes next, and verifies every authentication code.
func (c *collection) decode(key Key, name wmstate.WAPatchName, raw []byte) ([]Mutation, error) {
	patch, err := parsePatch(raw)
	if err != nil {
		return nil, err
	}
	c.number(patch)
	list := &wmstate.PatchList{Name: name, Patches: []*waServerSync.SyncdPatch{patch}}
	decoded, _, err := c.processor(key).DecodePatches(context.Background(), list, c.before(), true)
	if err != nil {
		return nil, fmt.Errorf("appstate: decode patch: %w", err)
	}
	mutations := make([]Mutation, len(decoded))
	for n, mutation := range decoded {
		if len(mutation.Index) == 0 || len(mutation.Index) > maxIndex {
			return nil, fmt.Errorf("%w: an index of %d parts", errPatch, len(mutation.Index))
		}
		for _, part := range mutation.Index {
			if len(part) > maxIndexPart {
				return nil, fmt.Errorf("%w: a part of an index with %d bytes", errPatch, len(part))
			}
		}
		mutations[n] = Mutation{
			Index: mutation.Index, Removed: mutation.Operation == waServerSync.SyncdMutation_REMOVE,
			Version: mutation.Version, Value: mutation.Action,
		}
	}
	return mutations, nil
}

// before is the state that the next patch depends on, as whatsmeow has it.
func (c *collection) before() wmstate.HashState {
	return wmstate.HashState{Version: c.version(), Hash: c.Hash}
}

// processor encodes and decodes patches of the collection.
func (c *collection) processor(key Key) *wmstate.Processor {
	device := &store.Device{AppStateKeys: keyStore{key: key}, AppState: codeStore{of: c}}
	return wmstate.NewProcessor(device, waLog.Noop)
}

// keyStore and codeStore are what whatsmeow's processor looks up. The embedded
// interfaces stand for methods that it does not call.
type keyStore struct {
	store.AppStateSyncKeyStore

	key Key
}

// GetAppStateSyncKey returns the account's only key, or nil for the identifier of
// another.
func (k keyStore) GetAppStateSyncKey(_ context.Context, id []byte) (*store.AppStateSyncKey, error) {
	if !bytes.Equal(id, k.key.ID) {
		return nil, nil
	}
	return &store.AppStateSyncKey{Data: k.key.Data, Timestamp: k.key.Created.Unix()}, nil
}

type codeStore struct {
	store.AppStateStore

	of *collection
}

// GetAppStateMutationMAC returns the code of the value that is set, or nil if none
// is.
func (s codeStore) GetAppStateMutationMAC(_ context.Context, _ string, index []byte) ([]byte, error) {
	return s.of.MACs[mac(index)], nil
}

// PutAppStateVersion keeps nothing: the collection is changed by append.
func (codeStore) PutAppStateVersion(context.Context, string, uint64, [hashSize]byte) error {
	return nil
}

// PutAppStateMutationMACs keeps nothing either.
func (codeStore) PutAppStateMutationMACs(context.Context, string, uint64, []store.AppStateMutationMAC) error {
	return nil
}

// DeleteAppStateMutationMACs deletes nothing.
func (codeStore) DeleteAppStateMutationMACs(context.Context, string, [][]byte) error { return nil }
