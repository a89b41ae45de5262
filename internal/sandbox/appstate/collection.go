// A collection of the app state, with its hash.

package appstate

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	wmstate "go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/appstate/lthash"
	"go.mau.fi/whatsmeow/proto/waServerSync"
	"google.golang.org/protobuf/proto"
)

const (
	macSize  = 32
	hashSize = 128

	// minValue is the size of the shortest encrypted value: an initialisation
	// vector, a block and the authentication code.
	minValue = 16 + 16 + macSize

	// maxPatches bounds the patches of a collection. All of them are kept, because
	// the next device that is linked begins with the first.
	maxPatches = 5000

	// maxPatch bounds one patch in bytes. A client's patches have a few hundred.
	maxPatch = 1 << 16
)

var errPatch = errors.New("appstate: malformed patch")

// mac is the authentication code of an index. It names a setting without saying
// which one it is.
type mac [macSize]byte

// MarshalText returns the code in hexadecimal.
func (m mac) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, m[:]), nil }

// UnmarshalText reads what MarshalText returned.
func (m *mac) UnmarshalText(text []byte) error {
	raw, err := hex.DecodeString(string(text))
	if err != nil || len(raw) != macSize {
		return fmt.Errorf("appstate: malformed index %q", text)
	}
	*m = mac(raw)
	return nil
}

// collection is one of the five collections: its patches, and the state that the
// next patch depends on.
type collection struct {
	Patches [][]byte       `json:"patches"` // the n-th leads to version n
	Hash    hash           `json:"hash"`    // of all values that are set
	MACs    map[mac][]byte `json:"macs"`    // of the value of each index that is set
}

// hash is the sum of the values' authentication codes, which does not depend on
// their order.
type hash [hashSize]byte

// MarshalText returns the hash in hexadecimal.
func (h hash) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h[:]), nil }

// UnmarshalText reads what MarshalText returned.
func (h *hash) UnmarshalText(text []byte) error {
	raw, err := hex.DecodeString(string(text))
	if err != nil || len(raw) != hashSize {
		return fmt.Errorf("appstate: malformed hash of %d bytes", len(text))
	}
	*h = hash(raw)
	return nil
}

func (c *collection) version() uint64 { return uint64(len(c.Patches)) }

// append checks a patch, numbers it and adds it. After an error nothing is changed.
func (c *collection) append(raw []byte) error {
	if len(c.Patches) >= maxPatches {
		return ErrFull
	}
	patch, err := parsePatch(raw)
	if err != nil {
		return err
	}
	c.number(patch)
	numbered, err := proto.Marshal(patch)
	if err != nil {
		return fmt.Errorf("appstate: encode patch: %w", err)
	}
	c.apply(patch)
	c.Patches = append(c.Patches, numbered)
	return nil
}

// number gives a patch the version that it leads to.
func (c *collection) number(patch *waServerSync.SyncdPatch) {
	patch.Version = &waServerSync.SyncdVersion{Version: new(c.version() + 1)}
}

// parsePatch reads a patch and checks what clients rely on when they apply it.
func parsePatch(raw []byte) (*waServerSync.SyncdPatch, error) {
	if len(raw) > maxPatch {
		return nil, fmt.Errorf("%w: %d bytes", errPatch, len(raw))
	}
	patch := &waServerSync.SyncdPatch{}
	if err := proto.Unmarshal(raw, patch); err != nil {
		return nil, fmt.Errorf("%w: %w", errPatch, err)
	}
	if patch.GetExternalMutations() != nil {
		return nil, fmt.Errorf("%w: its mutations are elsewhere", errPatch)
	}
	if len(patch.GetMutations()) == 0 || len(patch.GetKeyID().GetID()) == 0 ||
		len(patch.GetSnapshotMAC()) != macSize || len(patch.GetPatchMAC()) != macSize {
		return nil, fmt.Errorf("%w: incomplete", errPatch)
	}
	for _, mutation := range patch.GetMutations() {
		record := mutation.GetRecord()
		if len(record.GetIndex().GetBlob()) != macSize || len(record.GetValue().GetBlob()) < minValue ||
			len(record.GetKeyID().GetID()) == 0 {
			return nil, fmt.Errorf("%w: incomplete mutation", errPatch)
		}
	}
	return patch, nil
}

// apply updates hash and codes. For each index it removes the old value from the
// sum and adds the new one.
func (c *collection) apply(patch *waServerSync.SyncdPatch) {
	var added, removed [][]byte
	for _, mutation := range patch.GetMutations() {
		index := mac(mutation.GetRecord().GetIndex().GetBlob())
		if before, ok := c.MACs[index]; ok {
			removed = append(removed, before)
			delete(c.MACs, index)
		}
		if mutation.GetOperation() == waServerSync.SyncdMutation_SET {
			value := mutation.GetRecord().GetValue().GetBlob()
			code := value[len(value)-macSize:]
			added = append(added, code)
			c.MACs[index] = code
		}
	}
	lthash.WAPatchIntegrity.SubtractThenAddInPlace(c.Hash[:], removed, added)
}

// encode returns the phone's patch for info. append numbers it.
func (c *collection) encode(key Key, info wmstate.PatchInfo) ([]byte, error) {
	raw, err := c.processor(key).EncodePatch(context.Background(), key.ID, c.before(), info)
	if err != nil {
		return nil, fmt.Errorf("appstate: encode patch: %w", err)
	}
	return raw, nil
}
