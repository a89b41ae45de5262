// The keys that members of groups encrypt with.

package baileys

import (
	"errors"
	"slices"

	"go.mau.fi/libsignal/groups/ratchet"
	grouprecord "go.mau.fi/libsignal/groups/state/record"
	"go.mau.fi/whatsmeow/store"
)

// mostStates is how many keys of one member libsignal keeps.
const mostStates = 5

type senderKeyJSON struct {
	ID    uint32 `json:"senderKeyId"`
	Chain struct {
		Iteration uint32 `json:"iteration"`
		Seed      buffer `json:"seed"`
	} `json:"senderChainKey"`
	Signing struct {
		Public  buffer `json:"public"`
		Private buffer `json:"private"` // empty: it is another member's
	} `json:"senderSigningKey"`
	Kept []struct { // of messages that have not come yet
		Iteration uint32 `json:"iteration"`
		Seed      buffer `json:"seed"`
	} `json:"senderMessageKeys"`
}

// readSenderKey reads the keys of a member, the newest of which Baileys has last and
// libsignal first. It returns nil if there are none yet.
func readSenderKey(encoded []byte) ([]byte, error) {
	encoded, err := unwrapped(encoded)
	if err != nil {
		return nil, err
	}
	var all []senderKeyJSON
	if err := decode(encoded, &all); err != nil || len(all) == 0 {
		return nil, err
	}
	slices.Reverse(all)
	states := &grouprecord.SenderKeyStructure{}
	for _, one := range all[:min(len(all), mostStates)] {
		state, err := one.state()
		if err != nil {
			return nil, err
		}
		states.SenderKeyStates = append(states.SenderKeyStates, state)
	}
	return store.SignalProtobufSerializer.SenderKeyRecord.Serialize(states), nil
}

func (s *senderKeyJSON) state() (*grouprecord.SenderKeyStateStructure, error) {
	public, ok := publicKey(s.Signing.Public)
	if !ok || len(s.Signing.Private) != 0 && len(s.Signing.Private) != 32 || len(s.Chain.Seed) != 32 {
		return nil, errors.New("the key of a group has another length")
	}
	state := &grouprecord.SenderKeyStateStructure{
		KeyID: s.ID, SigningKeyPublic: public, SigningKeyPrivate: s.Signing.Private,
		SenderChainKey: &ratchet.SenderChainKeyStructure{Iteration: s.Chain.Iteration, ChainKey: s.Chain.Seed},
	}
	for _, kept := range s.Kept[max(0, len(s.Kept)-mostKept):] {
		if len(kept.Seed) != 32 {
			return nil, errors.New("the key of a message is none")
		}
		key, err := ratchet.NewSenderMessageKey(kept.Iteration, kept.Seed)
		if err != nil {
			return nil, errFormat
		}
		state.Keys = append(state.Keys, ratchet.NewStructFromSenderMessageKey(key))
	}
	return state, nil
}
