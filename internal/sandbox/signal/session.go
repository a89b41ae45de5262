// Sessions with other devices.

package signal

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.mau.fi/libsignal/protocol"
	"go.mau.fi/libsignal/session"
	"go.mau.fi/libsignal/signalerror"
	staterecord "go.mau.fi/libsignal/state/record"
)

// maxArchived is how many earlier sessions with one device are kept for decryption.
// libsignal would keep forty for a client that starts a new session every few
// minutes.
const maxArchived = 8

// putSession sets the session with the device at an address.
func (o *operation) putSession(address string, structure *staterecord.SessionStructure) {
	if len(structure.PreviousStates) > maxArchived {
		structure.PreviousStates = structure.PreviousStates[:maxArchived]
	}
	o.put(KindSession, address, o.formats.Session.Serialize(structure))
}

// builder returns libsignal's session builder for the device at addr.
func (o *operation) builder(addr *protocol.SignalAddress) *session.Builder {
	return session.NewBuilder(sessions{op: o}, preKeys{op: o}, signedPreKeys{op: o}, identities{op: o}, addr, o.formats)
}

// decryptPreKeyMessage decrypts a message that may start a session.
func (o *operation) decryptPreKeyMessage(ctx context.Context, addr *protocol.SignalAddress, ciphertext []byte) ([]byte, error) {
	message, err := protocol.NewPreKeySignalMessageFromBytes(ciphertext, o.formats.PreKeySignalMessage, o.formats.SignalMessage)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUndecryptable, err)
	}
	current, err := sessions{op: o}.LoadSession(ctx, addr)
	if err != nil {
		return nil, err
	}
	used, err := o.builder(addr).Process(ctx, current, message)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUndecryptable, err)
	}
	structure := current.Structure()
	plaintext, err := o.decryptWith(ctx, addr, o.formats.Session.Serialize(structure), message.WhisperMessage())
	if err != nil {
		return nil, err
	}
	if !used.IsEmpty {
		o.put(KindPreKey, preKeyName(used.Value), nil)
	}
	return plaintext, nil
}

// decryptMessage decrypts a message of an existing session.
func (o *operation) decryptMessage(ctx context.Context, addr *protocol.SignalAddress, ciphertext []byte) ([]byte, error) {
	message, err := protocol.NewSignalMessageFromBytes(ciphertext, o.formats.SignalMessage)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUndecryptable, err)
	}
	raw, err := o.load(ctx, KindSession, addr.String())
	if err != nil {
		return nil, err
	}
	if raw == nil {
		return nil, fmt.Errorf("%w: %w", ErrUndecryptable, ErrNoSession)
	}
	return o.decryptWith(ctx, addr, raw, message)
}

// decryptWith tries the current session and then the archived ones, and makes the
// one that fits the current one. It does not use libsignal's own search, which
// keeps sessions that a failed attempt has advanced, and so breaks the current
// session when a message of an archived one arrives.
func (o *operation) decryptWith(
	ctx context.Context, addr *protocol.SignalAddress, raw []byte, message *protocol.SignalMessage,
) ([]byte, error) {
	tried, err := o.formats.Session.Deserialize(raw)
	if err != nil {
		return nil, fmt.Errorf("signal: decode session: %w", err)
	}
	failed := signalerror.ErrNoValidSessions
	for i, structure := range allStates(tried) {
		state, err := staterecord.NewStateFromStructure(structure, o.formats.State)
		if err != nil {
			return nil, fmt.Errorf("signal: decode session: %w", err)
		}
		cipher := session.NewCipherFromSession(addr, nil, nil, nil, o.formats.PreKeySignalMessage, o.formats.SignalMessage)
		plaintext, _, err := cipher.DecryptWithState(ctx, state, message)
		if errors.Is(err, signalerror.ErrOldCounter) {
			return nil, fmt.Errorf("%w: %w", ErrDuplicate, err)
		}
		if err != nil {
			failed = err
			continue
		}
		if err := (identities{op: o}).SaveIdentity(ctx, addr, state.RemoteIdentityKey()); err != nil {
			return nil, err
		}
		if i > 0 {
			// Failed attempts have advanced the sessions before this one, so they
			// are loaded again.
			if tried, err = o.formats.Session.Deserialize(raw); err != nil {
				return nil, fmt.Errorf("signal: decode session: %w", err)
			}
		}
		o.promote(addr, tried, i, state)
		return plaintext, nil
	}
	return nil, fmt.Errorf("%w: %w", ErrUndecryptable, failed)
}

// promote makes state the current session. It was the i-th session of the record.
func (o *operation) promote(addr *protocol.SignalAddress, kept *staterecord.SessionStructure, i int, state *staterecord.State) {
	o.putSession(addr.String(), &staterecord.SessionStructure{
		SessionState:   staterecord.NewSessionFromState(state, o.formats.Session).Structure().SessionState,
		PreviousStates: slices.Delete(allStates(kept), i, i+1),
	})
}

// allStates returns the sessions of a record, the current one first.
func allStates(record *staterecord.SessionStructure) []*staterecord.StateStructure {
	return append([]*staterecord.StateStructure{record.SessionState}, record.PreviousStates...)
}
