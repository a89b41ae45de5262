package whatsapp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/util/keys"
)

// cachedPeople bounds how many people's sessions and identities are held in
// memory for one instance; a session takes one to three kilobytes.
const cachedPeople = 128

// migratedPeople bounds of how many people it is remembered that what was kept under
// their number lies under their LID; of another one it is only looked for again.
const migratedPeople = 4096

// keyCache stands before whatsmeow's store of one device's keys. It answers
// reads from memory and leaves out writes that would change nothing; whatever
// changes is written through before it is believed. Without it most of the CPU
// of a message goes into SQL.
//
// The sessions of a device are open in one process only, so nobody else changes
// what is cached.
type keyCache struct {
	store.AllSessionSpecificStores

	guard *keyGuard
	// sync makes what was written safe from a loss of power.
	sync func(ctx context.Context) error

	mu         sync.Mutex
	sessions   *lru.Cache[string, []byte]
	identities *lru.Cache[string, [32]byte]
	tokens     *lru.Cache[types.JID, *store.PrivacyToken] // nil: there is none
	salt       []byte
	saltKnown  bool
	migrated   *lru.Cache[string, struct{}] // numbers
	done       [][32]byte                   // messages that have been handed on, whose plaintext is still kept
	// changes counts the writes: what was read from the database before one of
	// them is not put into the cache after it.
	changes uint64

	// ratchet serialises what moves a Signal session on: a message that is
	// decrypted while another one to the same person is encrypted would put back
	// what the other has just used, and the next message would be unreadable. It is
	// never held while the network is waited for: see sending.
	ratchet sync.Mutex
	// open are the sends that have read sessions and write them later, without the
	// ratchet meanwhile.
	open map[*sending]struct{}
}

// cacheKeys puts a cache before the stores of linked keys.
func cacheKeys(device *store.Device, syncKeys func(context.Context) error) error {
	inner, ok := device.Sessions.(store.AllSessionSpecificStores)
	if !ok {
		return fmt.Errorf("whatsapp: keys are kept in a %T, which is no whole store", device.Sessions)
	}
	guard := &keyGuard{AllSessionSpecificStores: inner}
	c := &keyCache{AllSessionSpecificStores: guard, guard: guard, sync: syncKeys}
	var errs [4]error
	c.sessions, errs[0] = lru.New[string, []byte](cachedPeople)
	c.identities, errs[1] = lru.New[string, [32]byte](cachedPeople)
	c.tokens, errs[2] = lru.New[types.JID, *store.PrivacyToken](cachedPeople)
	c.migrated, errs[3] = lru.New[string, struct{}](migratedPeople)
	if err := errors.Join(errs[:]...); err != nil {
		return fmt.Errorf("whatsapp: make key cache: %w", err)
	}
	device.SetAllStores(c)
	return nil
}

// begin notes that a write starts, and returns its number.
func (c *keyCache) begin() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	return c.changes
}

// seen returns the number of the last write.
func (c *keyCache) seen() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changes
}

// keep calls fn, which fills the cache, unless a write has started since the
// one of that number: then it may know less than the database.
func (c *keyCache) keep(since uint64, fn func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changes == since {
		fn()
	}
}

// forget empties the cache.
func (c *keyCache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for send := range c.open {
		send.stale = true
	}
	c.changes++
	c.sessions.Purge()
	c.identities.Purge()
	c.tokens.Purge()
	c.saltKnown = false
}

// receivingKey marks the context of a decryption.
type receivingKey struct{}

// DoDecryptionTxn decrypts while nobody encrypts, and forgets what a transaction
// that failed had written.
func (c *keyCache) DoDecryptionTxn(ctx context.Context, fn func(context.Context) error) error {
	c.ratchet.Lock()
	defer c.ratchet.Unlock()
	err := c.AllSessionSpecificStores.DoDecryptionTxn(context.WithValue(ctx, receivingKey{}, true), func(ctx context.Context) error {
		if err := c.clearDone(ctx); err != nil {
			return err
		}
		return fn(ctx)
	})
	if err != nil {
		c.forget()
	}
	return err
}

// ClearBufferedEventPlaintext notes that a message has been handed on, so that
// its plaintext, which was kept for a crash in between, is of no more use. It is
// cleared with the next decryption: a transaction of its own would cost as much
// as that. A crash until then hands the message on once more, which is harmless.
func (c *keyCache) ClearBufferedEventPlaintext(_ context.Context, ciphertextHash [32]byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done = append(c.done, ciphertextHash)
	return nil
}

// clearDone clears the plaintexts that are of no more use.
func (c *keyCache) clearDone(ctx context.Context) error {
	c.mu.Lock()
	done := c.done
	c.done = nil
	c.mu.Unlock()
	for i, hash := range done {
		if err := c.AllSessionSpecificStores.ClearBufferedEventPlaintext(ctx, hash); err != nil {
			c.mu.Lock()
			c.done = append(c.done, done[i:]...)
			c.mu.Unlock()
			return err
		}
	}
	return nil
}

// GetSession returns the session with one address, nil where there is none.
func (c *keyCache) GetSession(ctx context.Context, address string) ([]byte, error) {
	if session, ok := c.sessions.Get(address); ok {
		return session, nil
	}
	since := c.seen()
	session, err := c.AllSessionSpecificStores.GetSession(ctx, address)
	if err == nil && session != nil {
		c.keep(since, func() { c.sessions.Add(address, session) })
	}
	return session, err
}

// HasSession reports whether there is a session with the address.
func (c *keyCache) HasSession(ctx context.Context, address string) (bool, error) {
	if c.sessions.Contains(address) {
		return true, nil
	}
	return c.AllSessionSpecificStores.HasSession(ctx, address)
}

// GetManySessions returns the sessions with the addresses, nil for those that
// have none. A send begins with it.
func (c *keyCache) GetManySessions(ctx context.Context, addresses []string) (map[string][]byte, error) {
	send := c.beginSending(ctx)
	found, err := c.readSessions(ctx, addresses)
	if err == nil && send != nil && slices.ContainsFunc(addresses, func(a string) bool { return found[a] == nil }) {
		send.letGo(addresses)
	}
	return found, err
}

func (c *keyCache) readSessions(ctx context.Context, addresses []string) (map[string][]byte, error) {
	found := make(map[string][]byte, len(addresses))
	var missing []string
	for _, address := range addresses {
		if session, ok := c.sessions.Get(address); ok {
			found[address] = session
		} else {
			missing = append(missing, address)
		}
	}
	if len(missing) == 0 {
		return found, nil
	}
	since := c.seen()
	rest, err := c.AllSessionSpecificStores.GetManySessions(ctx, missing)
	if err != nil {
		return nil, err
	}
	c.keep(since, func() {
		for address, session := range rest {
			if session != nil {
				c.sessions.Add(address, session)
			}
		}
	})
	maps.Copy(found, rest)
	return found, nil
}

// PutSession writes one session, as it is after a decryption.
func (c *keyCache) PutSession(ctx context.Context, address string, session []byte) error {
	before, err := c.GetSession(ctx, address)
	if err != nil {
		return err
	}
	if session, err = mendSession(before, session); err != nil {
		return err
	}
	return c.PutManySessions(ctx, map[string][]byte{address: session})
}

// PutManySessions writes sessions, all or none. A send has no more to do with
// them after it. They are safe from a loss of power before anything is sent that
// was encrypted with them.
//
// Its error is errSessionMoved where a send had to let go of the ratchet and another
// message has moved one of its sessions since: then nothing is written, and nothing
// was sent.
func (c *keyCache) PutManySessions(ctx context.Context, sessions map[string][]byte) error {
	send, _ := ctx.Value(sendingKey{}).(*sending)
	if send != nil {
		if err := send.takeAgain(); err != nil {
			return err
		}
	}
	err := c.putSessions(ctx, sessions)
	c.moved(send, maps.Keys(sessions))
	if send != nil {
		send.end()
	}
	if err != nil || ctx.Value(receivingKey{}) != nil {
		return err
	}
	return c.sync(ctx)
}

func (c *keyCache) putSessions(ctx context.Context, sessions map[string][]byte) error {
	since := c.begin()
	for address := range sessions {
		c.sessions.Remove(address)
	}
	if err := c.AllSessionSpecificStores.PutManySessions(ctx, sessions); err != nil {
		return err
	}
	c.keep(since, func() {
		for address, session := range sessions {
			c.sessions.Add(address, session)
		}
	})
	return nil
}

// GetOrGenPreKeys returns keys to give to the platform, which hands them to
// people who want to write: they must not go back.
func (c *keyCache) GetOrGenPreKeys(ctx context.Context, count uint32) ([]*keys.PreKey, error) {
	made, err := c.AllSessionSpecificStores.GetOrGenPreKeys(ctx, count)
	if err != nil {
		return nil, err
	}
	return made, c.sync(ctx)
}

// GenOnePreKey is GetOrGenPreKeys for one.
func (c *keyCache) GenOnePreKey(ctx context.Context) (*keys.PreKey, error) {
	made, err := c.AllSessionSpecificStores.GenOnePreKey(ctx)
	if err != nil {
		return nil, err
	}
	return made, c.sync(ctx)
}

// DeleteAllSessions deletes the sessions with all devices of a person.
func (c *keyCache) DeleteAllSessions(ctx context.Context, phone string) error {
	defer c.forget()
	return c.AllSessionSpecificStores.DeleteAllSessions(ctx, phone)
}

// DeleteSession deletes one session.
func (c *keyCache) DeleteSession(ctx context.Context, address string) error {
	defer c.forget()
	return c.AllSessionSpecificStores.DeleteSession(ctx, address)
}

// PutIdentity writes the identity behind an address, unless it is the one that
// is there.
func (c *keyCache) PutIdentity(ctx context.Context, address string, key [32]byte) error {
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
func (c *keyCache) IsTrustedIdentity(ctx context.Context, address string, key [32]byte) (bool, error) {
	if known, ok := c.identities.Get(address); ok {
		return known == key, nil
	}
	return c.AllSessionSpecificStores.IsTrustedIdentity(ctx, address, key)
}

// DeleteIdentity deletes the identity behind one address.
func (c *keyCache) DeleteIdentity(ctx context.Context, address string) error {
	defer c.forget()
	return c.AllSessionSpecificStores.DeleteIdentity(ctx, address)
}

// DeleteAllIdentities deletes the identities of all devices of a person.
func (c *keyCache) DeleteAllIdentities(ctx context.Context, phone string) error {
	defer c.forget()
	return c.AllSessionSpecificStores.DeleteAllIdentities(ctx, phone)
}

// GetPrivacyToken returns the token for writing to a person, nil where there is
// none.
func (c *keyCache) GetPrivacyToken(ctx context.Context, user types.JID) (*store.PrivacyToken, error) {
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

// copyToken keeps the cache's own apart: whatsmeow changes what it was given.
func copyToken(token *store.PrivacyToken) *store.PrivacyToken {
	if token == nil {
		return nil
	}
	other := *token
	return &other
}

// PutPrivacyTokens writes tokens.
func (c *keyCache) PutPrivacyTokens(ctx context.Context, tokens ...store.PrivacyToken) error {
	c.begin()
	defer c.tokens.Purge()
	return c.AllSessionSpecificStores.PutPrivacyTokens(ctx, tokens...)
}

// DeleteExpiredPrivacyTokens deletes old tokens.
func (c *keyCache) DeleteExpiredPrivacyTokens(ctx context.Context, cutoff time.Time) (int64, error) {
	c.begin()
	defer c.tokens.Purge()
	return c.AllSessionSpecificStores.DeleteExpiredPrivacyTokens(ctx, cutoff)
}

// GetNCTSalt returns the salt that stands in for a missing token, nil where
// there is none.
func (c *keyCache) GetNCTSalt(ctx context.Context) ([]byte, error) {
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
func (c *keyCache) PutNCTSalt(ctx context.Context, salt []byte) error {
	defer c.forget()
	return c.AllSessionSpecificStores.PutNCTSalt(ctx, salt)
}

// DeleteNCTSalt deletes the salt.
func (c *keyCache) DeleteNCTSalt(ctx context.Context) error {
	defer c.forget()
	return c.AllSessionSpecificStores.DeleteNCTSalt(ctx)
}

// MigratePNToLID moves what is kept under a number to its LID. whatsmeow asks
// for it with every message; only the first time there is anything to move.
func (c *keyCache) MigratePNToLID(ctx context.Context, pn, lid types.JID) error {
	if err := c.AllSessionSpecificStores.MigratePNToLID(ctx, pn, lid); err != nil {
		return err
	}
	if again, _ := c.migrated.ContainsOrAdd(pn.User, struct{}{}); !again {
		c.forget()
	}
	return nil
}
