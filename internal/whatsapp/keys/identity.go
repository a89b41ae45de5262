package keys

import (
	"context"

	wakeys "go.mau.fi/whatsmeow/util/keys"
)

// PutIdentity writes the identity behind an address, unless it is the one that
// is there.
func (c *cache) PutIdentity(ctx context.Context, address string, key [32]byte) error {
	if known, ok := c.identities.Get(address); ok && known == key {
		return nil
	}
	since := c.begin()
	c.identities.Remove(address)
	if err := c.AllSessionSpecificStores.PutIdentity(ctx, address, key); err != nil {
		return err
	}
	c.keep(since, func() { c.identities.Add(address, key) })
	return nil
}

// IsTrustedIdentity reports whether the identity is the one that is known, or
// none is known yet.
func (c *cache) IsTrustedIdentity(ctx context.Context, address string, key [32]byte) (bool, error) {
	if known, ok := c.identities.Get(address); ok {
		return known == key, nil
	}
	return c.AllSessionSpecificStores.IsTrustedIdentity(ctx, address, key)
}

// DeleteIdentity deletes the identity behind one address.
func (c *cache) DeleteIdentity(ctx context.Context, address string) error {
	defer c.forget()
	return c.AllSessionSpecificStores.DeleteIdentity(ctx, address)
}

// DeleteAllIdentities deletes the identities of all devices of a person.
func (c *cache) DeleteAllIdentities(ctx context.Context, phone string) error {
	defer c.forget()
	return c.AllSessionSpecificStores.DeleteAllIdentities(ctx, phone)
}

// GetOrGenPreKeys returns keys to give to the platform, which hands them to people who want
// to write. Keys that were given away must survive a loss of power.
func (c *cache) GetOrGenPreKeys(ctx context.Context, count uint32) ([]*wakeys.PreKey, error) {
	made, err := c.AllSessionSpecificStores.GetOrGenPreKeys(ctx, count)
	if err != nil {
		return nil, err
	}
	return made, c.sync(ctx)
}

// GenOnePreKey is GetOrGenPreKeys for one.
func (c *cache) GenOnePreKey(ctx context.Context) (*wakeys.PreKey, error) {
	made, err := c.AllSessionSpecificStores.GenOnePreKey(ctx)
	if err != nil {
		return nil, err
	}
	return made, c.sync(ctx)
}
