// The key with which the app state is encrypted.

package appstate

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
)

var errKey = errors.New("appstate: malformed key")

// Key encrypts and authenticates the patches of an account.
type Key struct {
	ID      []byte // 6 bytes
	Data    []byte // 32 bytes
	RawID   uint32 // names the set of devices that share it
	Created time.Time
}

// storedKey is the serialised form, with all parts that are random.
type storedKey struct {
	ID      [6]byte
	Data    [32]byte
	RawID   uint32
	Created int64 // in milliseconds
}

// NewKey draws a key from rand.
func NewKey(rand io.Reader, now time.Time) (Key, error) {
	var drawn storedKey
	if err := binary.Read(rand, binary.BigEndian, &drawn); err != nil {
		return Key{}, fmt.Errorf("appstate: draw key: %w", err)
	}
	drawn.Created = now.UnixMilli()
	return drawn.key(), nil
}

func (k storedKey) key() Key {
	return Key{ID: k.ID[:], Data: k.Data[:], RawID: k.RawID, Created: time.UnixMilli(k.Created).UTC()}
}

// MarshalBinary returns the key as bytes to keep.
func (k Key) MarshalBinary() ([]byte, error) {
	stored := storedKey{RawID: k.RawID, Created: k.Created.UnixMilli()}
	if len(k.ID) != len(stored.ID) || len(k.Data) != len(stored.Data) {
		return nil, fmt.Errorf("%w: %d and %d bytes", errKey, len(k.ID), len(k.Data))
	}
	copy(stored.ID[:], k.ID)
	copy(stored.Data[:], k.Data)
	raw, err := binary.Append(nil, binary.BigEndian, stored)
	if err != nil {
		return nil, fmt.Errorf("appstate: encode key: %w", err)
	}
	return raw, nil
}

// UnmarshalBinary reads what MarshalBinary returned.
func (k *Key) UnmarshalBinary(data []byte) error {
	var stored storedKey
	n, err := binary.Decode(data, binary.BigEndian, &stored)
	if err != nil || n != len(data) {
		return fmt.Errorf("%w: %d bytes", errKey, len(data))
	}
	*k = stored.key()
	return nil
}

// KeyShare returns the content of the message that gives key to a linked device.
func KeyShare(key Key) *waE2E.AppStateSyncKeyShare {
	return &waE2E.AppStateSyncKeyShare{Keys: []*waE2E.AppStateSyncKey{{
		KeyID: &waE2E.AppStateSyncKeyId{KeyID: key.ID},
		KeyData: &waE2E.AppStateSyncKeyData{
			KeyData: key.Data,
			// Clients refuse a key without a fingerprint, but do not look into it.
			Fingerprint: &waE2E.AppStateSyncKeyFingerprint{
				RawID: &key.RawID, CurrentIndex: new(uint32(0)), DeviceIndexes: []uint32{0},
			},
			Timestamp: new(key.Created.UnixMilli()),
		},
	}}}
}

// KeyShareMessage wraps KeyShare in a message from a phone.
func KeyShareMessage(key Key) *waE2E.Message {
	return &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{
		Type:                 waE2E.ProtocolMessage_APP_STATE_SYNC_KEY_SHARE.Enum(),
		AppStateSyncKeyShare: KeyShare(key),
	}}
}
