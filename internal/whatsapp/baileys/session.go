// Signal sessions, as Baileys' library for them keeps them.

package baileys

import (
	"bytes"
	"cmp"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"go.mau.fi/libsignal/keys/chain"
	"go.mau.fi/libsignal/keys/message"
	"go.mau.fi/libsignal/state/record"
	"go.mau.fi/libsignal/util/optional"

	"github.com/recado-project/recado/internal/whatsapp/sessionrecord"
)

// What libsignal keeps at most; it would drop the oldest with the next message.
const (
	mostArchived = 40   // sessions
	mostChains   = 5    // of messages received, in a session
	mostKept     = 2000 // keys of messages that have not come yet, in a chain
)

type recordJSON struct {
	Sessions ordered[sessionJSON] `json:"_sessions"` //nolint:tagliatelle // it is foreign
}

type sessionJSON struct {
	RegistrationID uint32      `json:"registrationId"`
	Ratchet        ratchetJSON `json:"currentRatchet"`
	Index          struct {
		BaseKey        buffer `json:"baseKey"`
		Closed         int64  `json:"closed"` // when; -1: it is open
		Used           int64  `json:"used"`
		RemoteIdentity buffer `json:"remoteIdentityKey"`
	} `json:"indexInfo"`
	// By the public key of the ratchet, the newest last.
	Chains  ordered[chainJSON] `json:"_chains"` //nolint:tagliatelle // it is foreign
	Pending *struct {
		SignedKeyID uint32  `json:"signedKeyId"`
		BaseKey     buffer  `json:"baseKey"`
		PreKeyID    *uint32 `json:"preKeyId"`
	} `json:"pendingPreKey"`
}

type ratchetJSON struct {
	Own struct {
		Public  buffer `json:"pubKey"`
		Private buffer `json:"privKey"`
	} `json:"ephemeralKeyPair"`
	Remote          buffer `json:"lastRemoteEphemeralKey"`
	PreviousCounter int64  `json:"previousCounter"`
	RootKey         buffer `json:"rootKey"`
}

type chainJSON struct {
	Key struct {
		// The number of the last message whose key was made; -1: none was.
		Counter int64  `json:"counter"`
		Key     buffer `json:"key"` // of the next message; empty: no more will come
	} `json:"chainKey"`
	Type int               `json:"chainType"`
	Kept map[string]buffer `json:"messageKeys"` // seeds of keys, by the number of the message
}

const (
	chainSending   = 1
	chainReceiving = 2
)

type session struct {
	record   []byte   // sessionrecord.Format
	identity [32]byte // of the other device
}

// readSession reads the sessions with a device. identity is the own public key.
func readSession(encoded, identity []byte, registrationID uint32) (session, error) {
	encoded, err := unwrapped(encoded)
	if err != nil {
		return session{}, err
	}
	var all recordJSON
	if err := decode(encoded, &all); err != nil {
		return session{}, err
	}
	if len(all.Sessions) == 0 {
		return session{}, errors.New("there is no session in it")
	}
	// The open one is the current one. If there is none, the one that was closed last is:
	// the other side has not forgotten it yet.
	slices.SortStableFunc(all.Sessions, func(a, b field[sessionJSON]) int {
		return cmp.Or(cmp.Compare(b.value.age(), a.value.age()), cmp.Compare(b.value.Index.Used, a.value.Index.Used))
	})
	var states []*record.StateStructure
	for _, one := range all.Sessions[:min(len(all.Sessions), mostArchived+1)] {
		state, err := one.value.state()
		if err != nil {
			return session{}, err
		}
		state.LocalIdentityPublic, state.LocalRegistrationID = identity, registrationID
		states = append(states, state)
	}
	written := sessionrecord.Format{}.Serialize(&record.SessionStructure{SessionState: states[0], PreviousStates: states[1:]})
	return session{written, [32]byte(states[0].RemoteIdentityPublic[1:])}, nil
}

// age is when a session was closed; the end of time for one that is open.
func (s *sessionJSON) age() int64 {
	if s.Index.Closed < 0 {
		return math.MaxInt64
	}
	return s.Index.Closed
}

func (s *sessionJSON) state() (*record.StateStructure, error) {
	state := &record.StateStructure{
		SessionVersion: 3, RemoteRegistrationID: s.RegistrationID, RootKey: s.Ratchet.RootKey,
		PreviousCounter: uint32(min(max(s.Ratchet.PreviousCounter, 0), math.MaxInt32)),
		ReceiverChains:  []*record.ChainStructure{},
	}
	var ok, ok2 bool
	state.RemoteIdentityPublic, ok = publicKey(s.Index.RemoteIdentity)
	state.SenderBaseKey, ok2 = publicKey(s.Index.BaseKey)
	if !ok || !ok2 || len(state.RootKey) != 32 {
		return nil, errors.New("a key of a session has another length")
	}
	if s.Pending != nil {
		base, ok := publicKey(s.Pending.BaseKey)
		if !ok {
			return nil, errors.New("a key of a session has another length")
		}
		state.PendingPreKey = &record.PendingPreKeyStructure{PreKeyID: optional.NewEmptyUint32(), SignedPreKeyID: s.Pending.SignedKeyID, BaseKey: base}
		if s.Pending.PreKeyID != nil {
			state.PendingPreKey.PreKeyID = optional.NewOptionalUint32(*s.Pending.PreKeyID)
		}
	}
	return state, s.addChains(state)
}

// addChains translates the chains: the one for sending is that of the own key of the
// ratchet, and the newest one for receiving is that of the other's.
func (s *sessionJSON) addChains(state *record.StateStructure) error {
	own, ok := publicKey(s.Ratchet.Own.Public)
	if !ok || len(s.Ratchet.Own.Private) != 32 {
		return errors.New("the key of a ratchet has another length")
	}
	remote, _ := publicKey(s.Ratchet.Remote)
	var newest *record.ChainStructure
	for _, one := range s.Chains {
		link, err := one.value.link(one.name)
		if err != nil {
			return err
		}
		switch {
		case one.value.Type == chainSending && bytes.Equal(link.SenderRatchetKeyPublic, own):
			if len(link.ChainKey.Key) == 0 {
				return errors.New("the chain for sending has no key")
			}
			link.SenderRatchetKeyPrivate = s.Ratchet.Own.Private
			state.SenderChain = link
		case one.value.Type == chainReceiving && bytes.Equal(link.SenderRatchetKeyPublic, remote):
			newest = link
		case one.value.Type == chainReceiving:
			state.ReceiverChains = append(state.ReceiverChains, link)
		default: // an old one for sending: nobody needs it
		}
	}
	if state.SenderChain == nil {
		return errors.New("there is no chain for sending")
	}
	if newest != nil {
		state.ReceiverChains = append(state.ReceiverChains, newest)
	}
	state.ReceiverChains = state.ReceiverChains[max(0, len(state.ReceiverChains)-mostChains):]
	return nil
}

// link translates a chain, without the private key of its ratchet.
func (c *chainJSON) link(name string) (*record.ChainStructure, error) {
	var encoded buffer
	if encoded.UnmarshalJSON([]byte(strconv.Quote(name))) != nil {
		return nil, errFormat
	}
	public, ok := publicKey(encoded)
	if !ok || len(c.Key.Key) != 0 && len(c.Key.Key) != 32 || c.Key.Counter < -1 || c.Key.Counter >= math.MaxInt32 {
		return nil, errors.New("the key of a chain is none")
	}
	link := &record.ChainStructure{
		SenderRatchetKeyPublic: public,
		// libsignal counts the messages, and Baileys names the last one.
		ChainKey:    &chain.KeyStructure{Key: c.Key.Key, Index: uint32(c.Key.Counter + 1)},
		MessageKeys: []*message.KeysStructure{},
	}
	for number, seed := range c.Kept {
		index, err := strconv.ParseUint(number, 10, 31)
		if err != nil || len(seed) != 32 {
			return nil, errors.New("the key of a message is none")
		}
		kept, err := messageKeys(seed, uint32(index))
		if err != nil {
			return nil, err
		}
		link.MessageKeys = append(link.MessageKeys, kept)
	}
	slices.SortFunc(link.MessageKeys, func(a, b *message.KeysStructure) int { return cmp.Compare(a.Index, b.Index) })
	link.MessageKeys = link.MessageKeys[max(0, len(link.MessageKeys)-mostKept):]
	return link, nil
}

// messageKeys are the keys of one message, which Signal derives from their seed.
func messageKeys(seed []byte, index uint32) (*message.KeysStructure, error) {
	const cipherKey, macKey, iv = 32, 32, 16
	derived, err := hkdf.Key(sha256.New, seed, nil, "WhisperMessageKeys", cipherKey+macKey+iv)
	if err != nil {
		return nil, fmt.Errorf("derive the keys of a message: %w", err)
	}
	return &message.KeysStructure{
		CipherKey: derived[:cipherKey], MacKey: derived[cipherKey : cipherKey+macKey], IV: derived[cipherKey+macKey:], Index: index,
	}, nil
}
