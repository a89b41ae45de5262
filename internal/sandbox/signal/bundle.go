// The key bundles of a phone.

package signal

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"

	"go.mau.fi/libsignal/util/medium"
)

// maxPreKeys is how many unused one-time prekeys are kept. The oldest ones beyond
// that are deleted.
const maxPreKeys = 1000

// preKeyCounter is the key of the record that counts one-time prekeys.
const preKeyCounter = "prekeys"

// Bundle makes a one-time prekey and returns it with the device's other public
// keys. Only the newest thousand unused one-time keys are kept.
func (d *Device) Bundle(ctx context.Context) (Bundle, error) {
	bundle := Bundle{
		RegistrationID: d.keys.RegistrationID,
		Identity:       *d.keys.Identity.Pub,
		SignedPreKeyID: d.keys.SignedPreKey.KeyID,
		SignedPreKey:   *d.keys.SignedPreKey.Pub,
		Signature:      *d.keys.SignedPreKey.Signature,
	}
	err := d.run(ctx, func(op *operation) error {
		minted, err := op.mint(ctx)
		bundle.PreKey = minted
		return err
	})
	if err != nil {
		return Bundle{}, err
	}
	return bundle, nil
}

// mint makes the next one-time prekey.
func (o *operation) mint(ctx context.Context) (*PreKey, error) {
	raw, err := o.load(ctx, KindCounter, preKeyCounter)
	if err != nil {
		return nil, err
	}
	var last uint32
	if raw != nil {
		if _, err := binary.Decode(raw, binary.BigEndian, &last); err != nil {
			return nil, fmt.Errorf("signal: decode prekey counter: %w", err)
		}
	}
	// The numbers begin again before the largest one, which means no key to
	// libsignal.
	id := last + 1
	if id >= medium.MaxValue {
		id = 1
	}
	var private [32]byte
	_, _ = rand.Read(private[:]) // it never returns an error
	pair := keyPair(private)
	o.put(KindPreKey, preKeyName(id), pair.Priv[:])
	if id > maxPreKeys {
		o.put(KindPreKey, preKeyName(id-maxPreKeys), nil)
	}
	o.put(KindCounter, preKeyCounter, binary.BigEndian.AppendUint32(nil, id))
	return &PreKey{ID: id, Public: *pair.Pub}, nil
}
