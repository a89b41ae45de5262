package signal

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"

	"go.mau.fi/libsignal/util/medium"
)

// maxPreKeys is how many one-time prekeys wait to be used; of more than these
// the oldest are given up.
const maxPreKeys = 1000

// preKeyCounter is the record that counts minted one-time prekeys.
const preKeyCounter = "prekeys"

// Bundle mints a one-time prekey and returns it with the device's other public
// keys. Of the one-time keys that nobody used the newest thousand are kept.
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
	// The numbers go round before the largest, which libsignal takes for none.
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
