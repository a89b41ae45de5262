package platform

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	waBinary "go.mau.fi/whatsmeow/binary"

	"github.com/recado-project/recado/internal/sandbox/signal"
)

// signalBundle is what another device needs to start a session.
type signalBundle = signal.Bundle

var errBundle = errors.New("platform: malformed prekey bundle")

func newPreKey(id uint32, public []byte) *signal.PreKey {
	key := &signal.PreKey{ID: id}
	copy(key.Public[:], public)
	return key
}

// bundleNodes is the form in which a bundle is sent.
func bundleNodes(b signalBundle) []waBinary.Node {
	nodes := []waBinary.Node{
		{Tag: "registration", Content: bytes32(b.RegistrationID)},
		{Tag: "type", Content: []byte{keyType}},
		{Tag: "identity", Content: b.Identity[:]},
		{Tag: "skey", Content: []waBinary.Node{
			{Tag: "id", Content: bytes24(b.SignedPreKeyID)},
			{Tag: "value", Content: b.SignedPreKey[:]},
			{Tag: "signature", Content: b.Signature[:]},
		}},
	}
	if b.PreKey != nil {
		nodes = append(nodes, waBinary.Node{Tag: "key", Content: []waBinary.Node{
			{Tag: "id", Content: bytes24(b.PreKey.ID)},
			{Tag: "value", Content: b.PreKey.Public[:]},
		}})
	}
	return nodes
}

// parseBundle reads the keys of a retry receipt: the registration lies beside
// the keys node.
func parseBundle(registration []byte, keys waBinary.Node) (signalBundle, error) {
	var b signalBundle
	signed, _ := child(keys, "skey")
	id, public, signature := childContent(signed, "id"), childContent(signed, "value"), childContent(signed, "signature")
	identity := childContent(keys, "identity")
	if len(registration) != 4 || len(id) != 3 || len(public) != 32 || len(signature) != 64 || len(identity) != 32 {
		return b, errBundle
	}
	b.RegistrationID = binary.BigEndian.Uint32(registration)
	b.SignedPreKeyID = uint24(id)
	copy(b.Identity[:], identity)
	copy(b.SignedPreKey[:], public)
	copy(b.Signature[:], signature)
	if one, ok := child(keys, "key"); ok {
		id, public := childContent(one, "id"), childContent(one, "value")
		if len(id) != 3 || len(public) != 32 {
			return b, errBundle
		}
		b.PreKey = newPreKey(uint24(id), public)
	}
	return b, nil
}

// phoneBundle mints a one-time key of a phone and returns its bundle.
func (s *Server) phoneBundle(ctx context.Context, of *account) (signalBundle, error) {
	if s.load != nil {
		return staticBundle(of.keys), nil // nothing is ever decrypted with it
	}
	of.phone.Lock()
	defer of.phone.Unlock()
	u := s.newUnit()
	phone := s.openPhone(u, of)
	bundle, err := phone.signal.Bundle(ctx)
	if err != nil {
		return bundle, fmt.Errorf("platform: mint prekey bundle: %w", err)
	}
	return bundle, u.commit(ctx)
}

// staticBundle is a phone's bundle without a one-time key.
func staticBundle(keys signal.Keys) signalBundle {
	return signalBundle{
		RegistrationID: keys.RegistrationID,
		Identity:       *keys.Identity.Pub,
		SignedPreKeyID: keys.SignedPreKey.KeyID,
		SignedPreKey:   *keys.SignedPreKey.Pub,
		Signature:      *keys.SignedPreKey.Signature,
	}
}
