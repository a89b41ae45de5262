package signal

import (
	"bytes"
	"context"
	"fmt"
	"strconv"

	"go.mau.fi/libsignal/ecc"
	groupstate "go.mau.fi/libsignal/groups/state/record"
	"go.mau.fi/libsignal/keys/identity"
	"go.mau.fi/libsignal/protocol"
	staterecord "go.mau.fi/libsignal/state/record"
	"go.mau.fi/libsignal/state/store"
)

// The adapters below implement libsignal's interfaces for an operation. The
// embedded interfaces stand for methods that are never called here.

// sessions is libsignal's session store.
type sessions struct {
	store.Session

	op *operation
}

// LoadSession returns the session, or a new one if there is none.
func (s sessions) LoadSession(ctx context.Context, address *protocol.SignalAddress) (*staterecord.Session, error) {
	raw, err := s.op.load(ctx, KindSession, address.String())
	if err != nil {
		return nil, err
	}
	if raw == nil {
		return staterecord.NewSession(s.op.formats.Session, s.op.formats.State), nil
	}
	session, err := staterecord.NewSessionFromBytes(raw, s.op.formats.Session, s.op.formats.State)
	if err != nil {
		return nil, fmt.Errorf("signal: decode session: %w", err)
	}
	return session, nil
}

// StoreSession keeps the session.
func (s sessions) StoreSession(_ context.Context, address *protocol.SignalAddress, session *staterecord.Session) error {
	s.op.putSession(address.String(), session.Structure())
	return nil
}

// identities is libsignal's identity store.
type identities struct {
	store.IdentityKey

	op *operation
}

// GetIdentityKeyPair returns the device's own identity.
func (i identities) GetIdentityKeyPair() *identity.KeyPair { return i.op.keys.identityPair() }

// GetLocalRegistrationID returns the device's own registration number.
func (i identities) GetLocalRegistrationID() uint32 { return i.op.keys.RegistrationID }

// IsTrustedIdentity returns true, because people change their phones.
func (i identities) IsTrustedIdentity(context.Context, *protocol.SignalAddress, *identity.Key) (bool, error) {
	return true, nil
}

// SaveIdentity keeps another device's identity if it is new.
func (i identities) SaveIdentity(ctx context.Context, address *protocol.SignalAddress, key *identity.Key) error {
	public := key.PublicKey().PublicKey()
	known, err := i.op.load(ctx, KindIdentity, address.String())
	if err != nil {
		return err
	}
	if !bytes.Equal(known, public[:]) {
		i.op.put(KindIdentity, address.String(), public[:])
	}
	return nil
}

// preKeys is libsignal's store of one-time prekeys.
type preKeys struct {
	store.PreKey

	op *operation
}

// LoadPreKey returns the one-time prekey, or nil if it was used or never made.
func (p preKeys) LoadPreKey(ctx context.Context, id uint32) (*staterecord.PreKey, error) {
	raw, err := p.op.load(ctx, KindPreKey, preKeyName(id))
	if err != nil || raw == nil {
		return nil, err
	}
	return staterecord.NewPreKey(id, ecc.CreateKeyPair(raw), nil), nil
}

// RemovePreKey deletes a one-time prekey that was used.
func (p preKeys) RemovePreKey(_ context.Context, id uint32) error {
	p.op.put(KindPreKey, preKeyName(id), nil)
	return nil
}

func preKeyName(id uint32) string { return strconv.FormatUint(uint64(id), 10) }

// signedPreKeys is libsignal's store of signed prekeys.
type signedPreKeys struct {
	store.SignedPreKey

	op *operation
}

// LoadSignedPreKey returns the signed prekey, or nil if the number is not its own.
func (s signedPreKeys) LoadSignedPreKey(_ context.Context, id uint32) (*staterecord.SignedPreKey, error) {
	if id != s.op.keys.SignedPreKey.KeyID {
		return nil, nil // libsignal's way of saying that there is none
	}
	return s.op.keys.signedPreKey(), nil
}

// senderKeys is libsignal's store of sender keys.
type senderKeys struct {
	op *operation
}

// LoadSenderKey returns the sender key, or an empty one if there is none.
func (s senderKeys) LoadSenderKey(ctx context.Context, name *protocol.SenderKeyName) (*groupstate.SenderKey, error) {
	raw, err := s.op.load(ctx, KindSenderKey, senderKeyName(name))
	if err != nil {
		return nil, err
	}
	if raw == nil {
		return groupstate.NewSenderKey(s.op.formats.SenderKeyRecord, s.op.formats.SenderKeyState), nil
	}
	key, err := groupstate.NewSenderKeyFromBytes(raw, s.op.formats.SenderKeyRecord, s.op.formats.SenderKeyState)
	if err != nil {
		return nil, fmt.Errorf("signal: decode sender key: %w", err)
	}
	return key, nil
}

// StoreSenderKey keeps the sender key.
func (s senderKeys) StoreSenderKey(_ context.Context, name *protocol.SenderKeyName, key *groupstate.SenderKey) error {
	s.op.put(KindSenderKey, senderKeyName(name), key.Serialize())
	return nil
}

func senderKeyName(name *protocol.SenderKeyName) string {
	return name.GroupID() + "::" + name.Sender().String()
}
