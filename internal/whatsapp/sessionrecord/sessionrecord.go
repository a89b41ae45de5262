// Package sessionrecord writes and reads the record of the Signal sessions with one device:
// the current session, and archived ones. It writes them in the protocol buffers of
// Signal's own libraries.
package sessionrecord

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"go.mau.fi/libsignal/keys/chain"
	"go.mau.fi/libsignal/keys/message"
	"go.mau.fi/libsignal/serialize"
	"go.mau.fi/libsignal/state/record"
	"go.mau.fi/libsignal/util/optional"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// Format writes the record of the sessions with one device
// (record.SessionSerializer). libsignal itself writes JSON, which takes three times the
// bytes and several times the work. Format reads both.
type Format struct{}

var _ record.SessionSerializer = Format{}

// Serialize writes a record.
func (Format) Serialize(session *record.SessionStructure) []byte {
	encoded := &serialize.RecordStructure{CurrentSession: stateToProto(session.SessionState)}
	for _, state := range session.PreviousStates {
		encoded.PreviousSessions = append(encoded.PreviousSessions, stateToProto(state))
	}
	written, err := proto.Marshal(encoded)
	if err != nil {
		return nil // it can't fail: all fields are optional, and none is a text
	}
	return written
}

// Deserialize reads a record that Serialize has written, or libsignal.
func (Format) Deserialize(encoded []byte) (*record.SessionStructure, error) {
	if isJSON(encoded) {
		var session record.SessionStructure
		if err := json.Unmarshal(encoded, &session); err != nil {
			return nil, fmt.Errorf("sessionrecord: read session: %w", err)
		}
		return &session, checkSession(&session)
	}
	var decoded serialize.RecordStructure
	if err := proto.Unmarshal(encoded, &decoded); err != nil {
		return nil, fmt.Errorf("sessionrecord: read session: %w", err)
	}
	if decoded.CurrentSession == nil {
		return nil, errors.New("sessionrecord: read session: the record is empty")
	}
	session := &record.SessionStructure{SessionState: stateOfProto(decoded.CurrentSession), PreviousStates: []*record.StateStructure{}}
	for _, state := range decoded.PreviousSessions {
		session.PreviousStates = append(session.PreviousStates, stateOfProto(state))
	}
	return session, checkSession(session)
}

// isJSON reports whether libsignal has written a record. None of ours begins like this.
func isJSON(encoded []byte) bool { return bytes.HasPrefix(encoded, []byte("{")) }

// publicKeyBytes is the length of a public key, with the byte that names its curve.
const publicKeyBytes = 33

// checkSession refuses a record that libsignal would panic about.
func checkSession(session *record.SessionStructure) error {
	for _, state := range append([]*record.StateStructure{session.SessionState}, session.PreviousStates...) {
		if state == nil {
			return errors.New("sessionrecord: read session: a session of the record is empty")
		}
		public := [][]byte{state.LocalIdentityPublic, state.RemoteIdentityPublic, state.SenderBaseKey}
		if state.PendingPreKey != nil {
			public = append(public, state.PendingPreKey.BaseKey)
		}
		if state.PendingKeyExchange != nil {
			return errors.New("sessionrecord: read session: it has a pending key exchange, which the platform does not use")
		}
		for _, link := range append([]*record.ChainStructure{state.SenderChain}, state.ReceiverChains...) {
			if link == nil || link.ChainKey == nil || slices.Contains(link.MessageKeys, nil) {
				return errors.New("sessionrecord: read session: a chain has no key")
			}
			public = append(public, link.SenderRatchetKeyPublic)
		}
		if slices.ContainsFunc(public, func(key []byte) bool { return len(key) != publicKeyBytes }) {
			return errors.New("sessionrecord: read session: a public key has another length")
		}
	}
	return nil
}

// hasArchive reports whether a record has sessions besides the current one.
func hasArchive(encoded []byte) bool {
	if isJSON(encoded) {
		return !bytes.HasSuffix(encoded, []byte(`"PreviousStates":[]}`))
	}
	_, _, length := protowire.ConsumeField(encoded)
	return length != len(encoded)
}

func stateToProto(state *record.StateStructure) *serialize.SessionStructure {
	version := uint32(state.SessionVersion) //nolint:gosec // the versions are 2 and 3
	encoded := &serialize.SessionStructure{
		SessionVersion: &version, LocalIdentityPublic: state.LocalIdentityPublic, RemoteIdentityPublic: state.RemoteIdentityPublic,
		RootKey: state.RootKey, PreviousCounter: &state.PreviousCounter, SenderChain: chainToProto(state.SenderChain),
		RemoteRegistrationId: &state.RemoteRegistrationID, LocalRegistrationId: &state.LocalRegistrationID,
		AliceBaseKey: state.SenderBaseKey,
	}
	if state.NeedsRefresh {
		encoded.NeedsRefresh = &state.NeedsRefresh
	}
	for _, link := range state.ReceiverChains {
		encoded.ReceiverChains = append(encoded.ReceiverChains, chainToProto(link))
	}
	if pending := state.PendingPreKey; pending != nil {
		signed := int32(pending.SignedPreKeyID) //nolint:gosec // it is read back as it was
		encoded.PendingPreKey = &serialize.SessionStructure_PendingPreKey{SignedPreKeyId: &signed, BaseKey: pending.BaseKey}
		if pending.PreKeyID != nil && !pending.PreKeyID.IsEmpty {
			encoded.PendingPreKey.PreKeyId = &pending.PreKeyID.Value
		}
	}
	return encoded
}

func stateOfProto(encoded *serialize.SessionStructure) *record.StateStructure {
	state := &record.StateStructure{
		SessionVersion: int(encoded.GetSessionVersion()), LocalIdentityPublic: encoded.GetLocalIdentityPublic(),
		RemoteIdentityPublic: encoded.GetRemoteIdentityPublic(), RootKey: encoded.GetRootKey(), PreviousCounter: encoded.GetPreviousCounter(),
		SenderChain: chainOfProto(encoded.GetSenderChain()), RemoteRegistrationID: encoded.GetRemoteRegistrationId(),
		LocalRegistrationID: encoded.GetLocalRegistrationId(), NeedsRefresh: encoded.GetNeedsRefresh(), SenderBaseKey: encoded.GetAliceBaseKey(),
		ReceiverChains: []*record.ChainStructure{},
	}
	for _, link := range encoded.GetReceiverChains() {
		state.ReceiverChains = append(state.ReceiverChains, chainOfProto(link))
	}
	if pending := encoded.GetPendingPreKey(); pending != nil {
		state.PendingPreKey = &record.PendingPreKeyStructure{
			PreKeyID: optional.NewEmptyUint32(), SignedPreKeyID: uint32(pending.GetSignedPreKeyId()), BaseKey: pending.GetBaseKey(), //nolint:gosec // it was written as it was
		}
		if pending.PreKeyId != nil {
			state.PendingPreKey.PreKeyID = optional.NewOptionalUint32(pending.GetPreKeyId())
		}
	}
	return state
}

func chainToProto(link *record.ChainStructure) *serialize.SessionStructure_Chain {
	if link == nil {
		return nil
	}
	encoded := &serialize.SessionStructure_Chain{
		SenderRatchetKey: link.SenderRatchetKeyPublic, SenderRatchetKeyPrivate: link.SenderRatchetKeyPrivate,
	}
	if link.ChainKey != nil {
		encoded.ChainKey = &serialize.SessionStructure_Chain_ChainKey{Index: &link.ChainKey.Index, Key: link.ChainKey.Key}
	}
	for _, key := range link.MessageKeys {
		encoded.MessageKeys = append(encoded.MessageKeys, &serialize.SessionStructure_Chain_MessageKey{
			Index: &key.Index, CipherKey: key.CipherKey, MacKey: key.MacKey, Iv: key.IV,
		})
	}
	return encoded
}

func chainOfProto(encoded *serialize.SessionStructure_Chain) *record.ChainStructure {
	if encoded == nil {
		return nil
	}
	link := &record.ChainStructure{
		SenderRatchetKeyPublic: encoded.GetSenderRatchetKey(), SenderRatchetKeyPrivate: encoded.GetSenderRatchetKeyPrivate(),
		MessageKeys: []*message.KeysStructure{},
	}
	if key := encoded.GetChainKey(); key != nil {
		link.ChainKey = &chain.KeyStructure{Index: key.GetIndex(), Key: key.GetKey()}
	}
	for _, key := range encoded.GetMessageKeys() {
		link.MessageKeys = append(link.MessageKeys, &message.KeysStructure{
			Index: key.GetIndex(), CipherKey: key.GetCipherKey(), MacKey: key.GetMacKey(), IV: key.GetIv(),
		})
	}
	return link
}
