// Keys that are given to the platform, which hands them to people who want to write.

package keys

import (
	"context"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"strconv"

	wakeys "go.mau.fi/whatsmeow/util/keys"

	"github.com/recado-project/recado/internal/gateway"
)

const kindPreKey = "prekey"

// The value of a row is the private key, and a byte that says whether the platform has it.
const (
	atHome  = 0
	givenTo = 1
)

// preKeyName is the id with as many digits as every other, so that they are in order.
func preKeyName(id uint32) string { return fmt.Sprintf("%08x", id) }

func preKeyValue(private []byte, given bool) []byte {
	if given {
		return append(slices.Clip(private), givenTo)
	}
	return append(slices.Clip(private), atHome)
}

// splitPreKey reads a row without computing its public key, which takes a while for hundreds of rows.
func splitPreKey(name string, value []byte) (id uint32, private []byte, given bool, err error) {
	number, err := strconv.ParseUint(name, 16, 32)
	if err != nil || len(value) != 33 {
		return 0, nil, false, fmt.Errorf("keys: the row %q of a prekey is not one", name)
	}
	return uint32(number), value[:32], value[32] == givenTo, nil
}

func readPreKey(name string, value []byte) (*wakeys.PreKey, error) {
	id, private, _, err := splitPreKey(name, value)
	if err != nil {
		return nil, err
	}
	return &wakeys.PreKey{KeyPair: *wakeys.NewKeyPairFromPrivateKey([32]byte(private)), KeyID: id}, nil
}

// GetOrGenPreKeys returns count keys that the platform does not have. Keys that were given
// away must survive a loss of power.
func (k *deviceKeys) GetOrGenPreKeys(ctx context.Context, count uint32) ([]*wakeys.PreKey, error) {
	k.preKeys.Lock()
	defer k.preKeys.Unlock()
	known, err := k.rows.list(ctx, kindPreKey, "")
	if err != nil {
		return nil, err
	}
	var fresh []*wakeys.PreKey
	for _, row := range known {
		if len(row.Value) > 32 && row.Value[32] == atHome && len(fresh) < int(count) {
			key, err := readPreKey(row.Name, row.Value)
			if err != nil {
				return nil, err
			}
			fresh = append(fresh, key)
		}
	}
	for next := k.nextPreKey(known); len(fresh) < int(count); next++ {
		key := wakeys.NewPreKey(next)
		k.rows.put(ctx, kindPreKey, preKeyName(next), preKeyValue(key.Priv[:], false))
		fresh = append(fresh, key)
	}
	return fresh, k.rows.flush(ctx, nil)
}

// GenOnePreKey makes a key that is given to somebody at once.
func (k *deviceKeys) GenOnePreKey(ctx context.Context) (*wakeys.PreKey, error) {
	k.preKeys.Lock()
	defer k.preKeys.Unlock()
	known, err := k.rows.list(ctx, kindPreKey, "")
	if err != nil {
		return nil, err
	}
	key := wakeys.NewPreKey(k.nextPreKey(known))
	k.rows.put(ctx, kindPreKey, preKeyName(key.KeyID), preKeyValue(key.Priv[:], true))
	return key, k.rows.flush(ctx, nil)
}

// firstPreKeys bounds the id of the first key. An id has 24 bits on the wire.
const firstPreKeys = 1 << 23

// nextPreKey is the id after the last one. The first one is drawn: a device that was restored
// from a backup must not use the ids of keys again that the platform may still hand out.
func (k *deviceKeys) nextPreKey(known []gateway.DeviceKey) uint32 {
	if len(known) == 0 && k.firstPreKey != 0 {
		return k.firstPreKey
	}
	if len(known) == 0 {
		return 1 + mathrand.Uint32N(firstPreKeys) //nolint:gosec // the number is no secret
	}
	last, err := strconv.ParseUint(known[len(known)-1].Name, 16, 32)
	if err != nil {
		return 1
	}
	return uint32(last) + 1
}

// GetPreKey returns a key by its id; nil if there is none.
func (k *deviceKeys) GetPreKey(ctx context.Context, id uint32) (*wakeys.PreKey, error) {
	value, err := k.rows.get(ctx, kindPreKey, preKeyName(id))
	if err != nil || value == nil {
		return nil, err
	}
	return readPreKey(preKeyName(id), value)
}

// RemovePreKey removes a key that was used.
func (k *deviceKeys) RemovePreKey(ctx context.Context, id uint32) error {
	k.rows.put(ctx, kindPreKey, preKeyName(id), nil)
	return k.rows.save(ctx)
}

// MarkPreKeysAsUploaded notes that the platform has the keys up to an id.
func (k *deviceKeys) MarkPreKeysAsUploaded(ctx context.Context, upToID uint32) error {
	k.preKeys.Lock()
	defer k.preKeys.Unlock()
	known, err := k.rows.list(ctx, kindPreKey, "")
	if err != nil {
		return err
	}
	for _, row := range known {
		id, private, given, err := splitPreKey(row.Name, row.Value)
		if err != nil {
			return err
		}
		if !given && id <= upToID {
			k.rows.put(ctx, kindPreKey, row.Name, preKeyValue(private, true))
		}
	}
	return k.rows.save(ctx)
}

// UploadedPreKeyCount counts the keys that the platform has.
func (k *deviceKeys) UploadedPreKeyCount(ctx context.Context) (int, error) {
	known, err := k.rows.list(ctx, kindPreKey, "")
	count := 0
	for _, row := range known {
		if len(row.Value) == 33 && row.Value[32] == givenTo {
			count++
		}
	}
	return count, err
}
