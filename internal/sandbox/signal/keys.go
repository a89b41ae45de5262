// The identity keys of a device.

package signal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/libsignal/keys/identity"
	"go.mau.fi/libsignal/state/record"
	"go.mau.fi/whatsmeow/util/keys"
)

// keysVersion is the first byte of serialised keys, so that their form can change.
const keysVersion = 1

// signedPreKeyID is the number of a simulated device's only signed prekey.
const signedPreKeyID = 1

var errKeys = errors.New("signal: malformed keys")

// Keys are the long-lived keys of a device. A phone also signs the identities of
// its companions with its identity key.
type Keys struct {
	RegistrationID uint32
	Identity       *keys.KeyPair
	SignedPreKey   *keys.PreKey // with its signature
}

// NewKeys makes new keys with random bytes from rand.
func NewKeys(rand io.Reader) (Keys, error) {
	var drawn struct {
		Registration     uint32
		Identity, PreKey [32]byte
	}
	if err := binary.Read(rand, binary.BigEndian, &drawn); err != nil {
		return Keys{}, fmt.Errorf("signal: draw keys: %w", err)
	}
	signed := &keys.PreKey{KeyPair: *keyPair(drawn.PreKey), KeyID: signedPreKeyID}
	own := keyPair(drawn.Identity)
	signed.Signature = own.Sign(&signed.KeyPair)
	// Registration IDs are positive and have 31 bits, because some clients treat
	// them as signed.
	return Keys{RegistrationID: drawn.Registration>>1 | 1, Identity: own, SignedPreKey: signed}, nil
}

// keyPair returns the key pair of a private key. The scalar is clamped as the
// signature scheme needs it.
func keyPair(private [32]byte) *keys.KeyPair {
	private[0] &= 248
	private[31] = private[31]&127 | 64
	return keys.NewKeyPairFromPrivateKey(private)
}

// storedKeys is the serialised form.
type storedKeys struct {
	Version        uint8
	RegistrationID uint32
	Identity       [32]byte
	PreKeyID       uint32
	PreKey         [32]byte
	Signature      [64]byte
}

// MarshalBinary returns the keys, private parts included, as bytes to keep.
func (k Keys) MarshalBinary() ([]byte, error) {
	if k.Identity == nil || k.SignedPreKey == nil || k.SignedPreKey.Signature == nil {
		return nil, fmt.Errorf("%w: incomplete", errKeys)
	}
	var buffer bytes.Buffer
	err := binary.Write(&buffer, binary.BigEndian, storedKeys{
		Version:        keysVersion,
		RegistrationID: k.RegistrationID,
		Identity:       *k.Identity.Priv,
		PreKeyID:       k.SignedPreKey.KeyID,
		PreKey:         *k.SignedPreKey.Priv,
		Signature:      *k.SignedPreKey.Signature,
	})
	if err != nil {
		return nil, fmt.Errorf("signal: encode keys: %w", err)
	}
	return buffer.Bytes(), nil
}

// UnmarshalBinary reads what MarshalBinary returned.
func (k *Keys) UnmarshalBinary(data []byte) error {
	var stored storedKeys
	n, err := binary.Decode(data, binary.BigEndian, &stored)
	if err != nil {
		return fmt.Errorf("%w: %w", errKeys, err)
	}
	if n != len(data) || stored.Version != keysVersion {
		return fmt.Errorf("%w: version %d, %d bytes", errKeys, stored.Version, len(data))
	}
	*k = Keys{
		RegistrationID: stored.RegistrationID,
		Identity:       keyPair(stored.Identity),
		SignedPreKey: &keys.PreKey{
			KeyPair: *keyPair(stored.PreKey), KeyID: stored.PreKeyID, Signature: &stored.Signature,
		},
	}
	return nil
}

// identityPair returns the identity in libsignal's type.
func (k Keys) identityPair() *identity.KeyPair {
	return identity.NewKeyPair(identity.NewKey(ecc.NewDjbECPublicKey(*k.Identity.Pub)), ecc.NewDjbECPrivateKey(*k.Identity.Priv))
}

// signedPreKey returns the signed prekey in libsignal's type.
func (k Keys) signedPreKey() *record.SignedPreKey {
	pair := ecc.NewECKeyPair(ecc.NewDjbECPublicKey(*k.SignedPreKey.Pub), ecc.NewDjbECPrivateKey(*k.SignedPreKey.Priv))
	return record.NewSignedPreKey(k.SignedPreKey.KeyID, 0, pair, *k.SignedPreKey.Signature, nil)
}
