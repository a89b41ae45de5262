// What Signal keeps of others: sessions with devices, identities, and the keys that members of groups encrypt with.

package keys

import (
	"bytes"
	"context"

	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/whatsapp/sessionrecord"
)

const (
	kindSession  = "session"
	kindIdentity = "identity" // the key that a device signs with
	// The name of a row begins with the member, so that all keys of a person are found.
	kindSenderKey = "sender key"
)

// GetSession returns the session with one address, nil if there is none.
func (k *deviceKeys) GetSession(ctx context.Context, address string) ([]byte, error) {
	return k.rows.get(ctx, kindSession, nameOf(address))
}

// HasSession reports whether there is a session with the address.
func (k *deviceKeys) HasSession(ctx context.Context, address string) (bool, error) {
	session, err := k.GetSession(ctx, address)
	return session != nil, err
}

// GetManySessions returns the sessions with the addresses, nil for those that have none. A
// send begins with it.
func (k *deviceKeys) GetManySessions(ctx context.Context, addresses []string) (map[string][]byte, error) {
	send := k.beginSending(ctx)
	found := make(map[string][]byte, len(addresses))
	missing := false
	for _, address := range addresses {
		session, err := k.GetSession(ctx, address)
		if err != nil {
			return nil, err
		}
		found[address] = session
		missing = missing || session == nil
	}
	if missing && send != nil && !send.keeps {
		send.letGo(addresses)
	}
	return found, nil
}

// PutSession writes one session, as it is after a decryption.
func (k *deviceKeys) PutSession(ctx context.Context, address string, session []byte) error {
	before, err := k.GetSession(ctx, address)
	if err != nil {
		return err
	}
	if session, err = sessionrecord.Mend(before, session); err != nil {
		return err
	}
	return k.PutManySessions(ctx, map[string][]byte{address: session})
}

// PutManySessions writes sessions, all or none; it ends the part of a send that needs the
// ratchet. The sessions are safe from a loss of power before anything is sent that was
// encrypted with them, and what the send waits for besides has happened too.
//
// Its error is errSessionMoved if a send had to release the ratchet and another message
// has moved one of its sessions since: then nothing is written, and nothing was sent.
func (k *deviceKeys) PutManySessions(ctx context.Context, sessions map[string][]byte) error {
	if k.rows.decryption(ctx) != nil {
		for address, session := range sessions {
			k.rows.put(ctx, kindSession, nameOf(address), session)
		}
		return nil
	}
	send, _ := ctx.Value(sendingKey{}).(*sending)
	if send != nil {
		if err := send.takeAgain(); err != nil {
			return err
		}
	}
	k.rows.mu.Lock()
	for address, session := range sessions {
		k.rows.set(rowName{kindSession, nameOf(address)}, change{value: session})
		k.moved(send, nameOf(address))
	}
	k.rows.mu.Unlock()
	if send != nil {
		send.end()
	}
	if err := k.rows.flush(ctx, nil); err != nil {
		return err
	}
	if send != nil && send.ready != nil {
		return send.ready(ctx)
	}
	return nil
}

// DeleteAllSessions deletes the sessions with all devices of a person.
func (k *deviceKeys) DeleteAllSessions(ctx context.Context, phone string) error {
	return k.removeAll(ctx, kindSession, phone+":")
}

// DeleteSession deletes one session.
func (k *deviceKeys) DeleteSession(ctx context.Context, address string) error {
	k.rows.put(ctx, kindSession, nameOf(address), nil)
	k.movedBy(ctx, kindSession, nameOf(address))
	return k.rows.save(ctx)
}

// removeAll removes the rows of a kind whose names begin with prefix.
func (k *deviceKeys) removeAll(ctx context.Context, kind, prefix string) error {
	found, err := k.rows.list(ctx, kind, prefix)
	if err != nil {
		return err
	}
	for _, row := range found {
		k.rows.put(ctx, kind, row.Name, nil)
		k.movedBy(ctx, kind, row.Name)
	}
	return k.rows.save(ctx)
}

// movedBy marks the sends that watch a session which is changed outside of a send.
func (k *deviceKeys) movedBy(ctx context.Context, kind, name string) {
	if kind != kindSession || k.rows.decryption(ctx) != nil {
		return
	}
	send, _ := ctx.Value(sendingKey{}).(*sending)
	k.rows.mu.Lock()
	defer k.rows.mu.Unlock()
	k.moved(send, name)
}

// MigratePNToLID moves what is kept under a number to its LID. whatsmeow asks for it with
// every message; only the first time there is anything to move.
func (k *deviceKeys) MigratePNToLID(ctx context.Context, pn, lid types.JID) error {
	number, other := pn.SignalAddressUser(), lid.SignalAddressUser()
	if k.migrated.Contains(number) {
		return nil
	}
	for _, kind := range []string{kindSession, kindIdentity, kindSenderKey} {
		found, err := k.rows.list(ctx, kind, number+":")
		if err != nil {
			return err
		}
		for _, row := range found {
			moved := other + row.Name[len(number):]
			k.rows.put(ctx, kind, moved, row.Value)
			k.movedBy(ctx, kind, moved)
			k.rows.put(ctx, kind, row.Name, nil)
			k.movedBy(ctx, kind, row.Name)
		}
	}
	if err := k.rows.save(ctx); err != nil {
		return err
	}
	k.migrated.Add(number, struct{}{})
	return nil
}

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

// PutSenderKey writes a member's key for a group.
func (k *deviceKeys) PutSenderKey(ctx context.Context, group, user string, key []byte) error {
	k.rows.put(ctx, kindSenderKey, nameOf(user, group), key)
	return k.rows.save(ctx)
}

// GetSenderKey returns a member's key for a group; nil if there is none.
func (k *deviceKeys) GetSenderKey(ctx context.Context, group, user string) ([]byte, error) {
	return k.rows.get(ctx, kindSenderKey, nameOf(user, group))
}

// KeptOverRestore reports whether the rows of a kind are restored from a backup. The device
// went on after the backup: what its Signal sessions, its own sender keys and its one-time
// keys were then has been used since, and a key that is used twice makes messages unreadable.
// Without them, the device begins new conversations under the same identity: it fetches keys
// before it writes, and asks for a message again that it can't read.
func KeptOverRestore(kind string) bool {
	switch kind {
	case kindSession, kindSenderKey, kindPreKey:
		return false
	default:
		return true
	}
}
