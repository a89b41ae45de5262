// Bundles of keys, for those who begin a Signal session.

package prekey

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	waBinary "go.mau.fi/whatsmeow/binary"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/signal"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

var errBundle = errors.New("prekey: malformed prekey bundle")

func newPreKey(id uint32, public []byte) *signal.PreKey {
	key := &signal.PreKey{ID: id}
	copy(key.Public[:], public)
	return key
}

// BundleNodes encodes a bundle.
func BundleNodes(b signal.Bundle) []waBinary.Node {
	nodes := []waBinary.Node{
		{Tag: "registration", Content: wire.Bytes32(b.RegistrationID)},
		{Tag: "type", Content: []byte{keyType}},
		{Tag: "identity", Content: b.Identity[:]},
		{Tag: "skey", Content: []waBinary.Node{
			{Tag: "id", Content: wire.Bytes24(b.SignedPreKeyID)},
			{Tag: "value", Content: b.SignedPreKey[:]},
			{Tag: "signature", Content: b.Signature[:]},
		}},
	}
	if b.PreKey != nil {
		nodes = append(nodes, waBinary.Node{Tag: "key", Content: []waBinary.Node{
			{Tag: "id", Content: wire.Bytes24(b.PreKey.ID)},
			{Tag: "value", Content: b.PreKey.Public[:]},
		}})
	}
	return nodes
}

// ParseBundle reads the bundle in a retry receipt. The registration ID is not in
// the keys node but beside it.
func ParseBundle(registration []byte, keys waBinary.Node) (signal.Bundle, error) {
	var b signal.Bundle
	signed, _ := wire.Child(keys, "skey")
	id, public, signature := wire.ChildContent(signed, "id"), wire.ChildContent(signed, "value"), wire.ChildContent(signed, "signature")
	identity := wire.ChildContent(keys, "identity")
	if len(registration) != 4 || len(id) != 3 || len(public) != 32 || len(signature) != 64 || len(identity) != 32 {
		return b, errBundle
	}
	b.RegistrationID = binary.BigEndian.Uint32(registration)
	b.SignedPreKeyID = wire.Uint24(id)
	copy(b.Identity[:], identity)
	copy(b.SignedPreKey[:], public)
	copy(b.Signature[:], signature)
	if one, ok := wire.Child(keys, "key"); ok {
		id, public := wire.ChildContent(one, "id"), wire.ChildContent(one, "value")
		if len(id) != 3 || len(public) != 32 {
			return b, errBundle
		}
		b.PreKey = newPreKey(wire.Uint24(id), public)
	}
	return b, nil
}

// phoneBundle returns the bundle of a phone, with a new one-time key.
func (s *Service) phoneBundle(ctx context.Context, of *account.Account) (signal.Bundle, error) {
	if s.load {
		return staticBundle(of.Keys), nil // nothing is ever decrypted with it
	}
	of.LockPhone()
	defer of.UnlockPhone()
	u := s.accounts.NewUnit()
	bundle, err := of.SignalDevice(u).Bundle(ctx)
	if err != nil {
		return bundle, fmt.Errorf("prekey: mint prekey bundle: %w", err)
	}
	return bundle, u.Commit(ctx)
}

// staticBundle returns a phone's bundle without a one-time key.
func staticBundle(keys signal.Keys) signal.Bundle {
	return signal.Bundle{
		RegistrationID: keys.RegistrationID,
		Identity:       *keys.Identity.Pub,
		SignedPreKeyID: keys.SignedPreKey.KeyID,
		SignedPreKey:   *keys.SignedPreKey.Pub,
		Signature:      *keys.SignedPreKey.Signature,
	}
}
