// Who people are: the keys that they sign with.

package keys

import (
	"bytes"
	"context"
)

const kindIdentity = "identity"

// PutIdentity writes the identity behind an address, unless it is the one that is there.
func (k *deviceKeys) PutIdentity(ctx context.Context, address string, key [32]byte) error {
	known, err := k.rows.get(ctx, kindIdentity, nameOf(address))
	if err != nil || bytes.Equal(known, key[:]) {
		return err
	}
	k.rows.put(ctx, kindIdentity, nameOf(address), key[:])
	return k.rows.save(ctx)
}

// IsTrustedIdentity reports whether the identity is the one that is known, or none is
// known yet.
func (k *deviceKeys) IsTrustedIdentity(ctx context.Context, address string, key [32]byte) (bool, error) {
	known, err := k.rows.get(ctx, kindIdentity, nameOf(address))
	return known == nil || bytes.Equal(known, key[:]), err
}

// DeleteIdentity deletes the identity behind one address.
func (k *deviceKeys) DeleteIdentity(ctx context.Context, address string) error {
	k.rows.put(ctx, kindIdentity, nameOf(address), nil)
	return k.rows.save(ctx)
}

// DeleteAllIdentities deletes the identities of all devices of a person.
func (k *deviceKeys) DeleteAllIdentities(ctx context.Context, phone string) error {
	return k.removeAll(ctx, kindIdentity, phone+":")
}
