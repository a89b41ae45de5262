// The cache of a device's Signal sessions and identities.

package keys

import (
	"context"
	"errors"
	"fmt"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
)

// cachedPeople bounds how many people's sessions and identities are held in
// memory for one instance; a session takes one to three kilobytes.
const cachedPeople = 128

// migratedPeople bounds for how many people it is remembered that their keys were moved
// from their number to their LID; for others the move is only tried again.
const migratedPeople = 4096

// cache stands before whatsmeow's store of one device's keys. It answers reads from memory
// and leaves out writes that would change nothing; a change is written to the database
// before it is cached. Without the cache most of the CPU time of a message goes into SQL.
//
// The sessions of a device are open in one process only, so the cache is never out of
// date.
type cache struct {
	store.AllSessionSpecificStores

	guard *guard
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
	// changes counts the writes: an answer of the database from before a write is not
	// put into the cache after it.
	changes uint64

	// ratchet serialises decryption and encryption, which move Signal sessions on. If a
	// message were decrypted while another one to the same person is encrypted, it would
	// overwrite the session that the other has just used, and the next message would be
	// unreadable. It is never held during a request to the platform: see sending.
	ratchet sync.Mutex
	// open holds the sends that have read sessions and write them later, and do not hold
	// the ratchet meanwhile.
	open map[*sending]struct{}
}

// putCache puts a cache before the stores of linked keys.
func putCache(device *store.Device, syncKeys func(context.Context) error) error {
	inner, ok := device.Sessions.(store.AllSessionSpecificStores)
	if !ok {
		return fmt.Errorf("keys: the keys lie in a %T, which is no whole store", device.Sessions)
	}
	g := &guard{AllSessionSpecificStores: inner}
	c := &cache{AllSessionSpecificStores: g, guard: g, sync: syncKeys}
	var errs [4]error
	c.sessions, errs[0] = lru.New[string, []byte](cachedPeople)
	c.identities, errs[1] = lru.New[string, [32]byte](cachedPeople)
	c.tokens, errs[2] = lru.New[types.JID, *store.PrivacyToken](cachedPeople)
	c.migrated, errs[3] = lru.New[string, struct{}](migratedPeople)
	if err := errors.Join(errs[:]...); err != nil {
		return fmt.Errorf("keys: make key cache: %w", err)
	}
	device.SetAllStores(c)
	return nil
}

// begin notes that a write starts, and returns its number.
func (c *cache) begin() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	return c.changes
}

// seen returns the number of the last write.
func (c *cache) seen() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changes
}

// keep calls fn, which fills the cache, unless a write has started since the one with the
// number since: then fn's values may be older than the database.
func (c *cache) keep(since uint64, fn func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changes == since {
		fn()
	}
}

// forget empties the cache.
func (c *cache) forget() {
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

// DoDecryptionTxn decrypts while nothing is encrypted, and empties the cache if the
// transaction fails.
func (c *cache) DoDecryptionTxn(ctx context.Context, fn func(context.Context) error) error {
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

// ClearBufferedEventPlaintext notes that a message has been passed on, so that its
// plaintext, which was kept for a crash in between, is not needed any more. It is cleared
// with the next decryption, because a transaction of its own would cost as much as that.
// After a crash until then the message is passed on once more, which is harmless.
func (c *cache) ClearBufferedEventPlaintext(_ context.Context, ciphertextHash [32]byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done = append(c.done, ciphertextHash)
	return nil
}

// clearDone clears the plaintexts that are not needed any more.
func (c *cache) clearDone(ctx context.Context) error {
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

// MigratePNToLID moves what is kept under a number to its LID. whatsmeow asks
// for it with every message; only the first time there is anything to move.
func (c *cache) MigratePNToLID(ctx context.Context, pn, lid types.JID) error {
	if err := c.AllSessionSpecificStores.MigratePNToLID(ctx, pn, lid); err != nil {
		return err
	}
	if again, _ := c.migrated.ContainsOrAdd(pn.User, struct{}{}); !again {
		c.forget()
	}
	return nil
}
