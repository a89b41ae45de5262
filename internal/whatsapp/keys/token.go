package keys

import (
	"context"
	"time"

	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
)

// GetPrivacyToken returns the token for writing to a person, nil where there is
// none.
func (c *cache) GetPrivacyToken(ctx context.Context, user types.JID) (*store.PrivacyToken, error) {
	if token, ok := c.tokens.Get(user); ok {
		return copyToken(token), nil
	}
	since := c.seen()
	token, err := c.AllSessionSpecificStores.GetPrivacyToken(ctx, user)
	if err == nil {
		c.keep(since, func() { c.tokens.Add(user, copyToken(token)) })
	}
	return token, err
}

// copyToken copies a token, because whatsmeow changes the one that it gets.
func copyToken(token *store.PrivacyToken) *store.PrivacyToken {
	if token == nil {
		return nil
	}
	other := *token
	return &other
}

// PutPrivacyTokens writes tokens.
func (c *cache) PutPrivacyTokens(ctx context.Context, tokens ...store.PrivacyToken) error {
	c.begin()
	defer c.tokens.Purge()
	return c.AllSessionSpecificStores.PutPrivacyTokens(ctx, tokens...)
}

// DeleteExpiredPrivacyTokens deletes old tokens.
func (c *cache) DeleteExpiredPrivacyTokens(ctx context.Context, cutoff time.Time) (int64, error) {
	c.begin()
	defer c.tokens.Purge()
	return c.AllSessionSpecificStores.DeleteExpiredPrivacyTokens(ctx, cutoff)
}

// GetNCTSalt returns the salt that stands in for a missing token, nil where
// there is none.
func (c *cache) GetNCTSalt(ctx context.Context) ([]byte, error) {
	c.mu.Lock()
	salt, known, since := c.salt, c.saltKnown, c.changes
	c.mu.Unlock()
	if known {
		return salt, nil
	}
	salt, err := c.AllSessionSpecificStores.GetNCTSalt(ctx)
	if err == nil {
		c.keep(since, func() { c.salt, c.saltKnown = salt, true })
	}
	return salt, err
}

// PutNCTSalt writes the salt.
func (c *cache) PutNCTSalt(ctx context.Context, salt []byte) error {
	defer c.forget()
	return c.AllSessionSpecificStores.PutNCTSalt(ctx, salt)
}

// DeleteNCTSalt deletes the salt.
func (c *cache) DeleteNCTSalt(ctx context.Context) error {
	defer c.forget()
	return c.AllSessionSpecificStores.DeleteNCTSalt(ctx)
}
