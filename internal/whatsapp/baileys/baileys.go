// Package baileys reads the keys of devices that programs on Baileys keep: JSON, one entry
// for each session, prekey and so on. It is no client of the platform, and writes nothing.
//
// What it reads comes from somebody else's files, so every value is checked before
// libsignal or whatsmeow see it, and no error holds a value.
package baileys

import (
	"errors"
	"iter"

	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/whatsapp/keys"
)

// ErrNotLinked is the error for credentials that no phone has accepted.
var ErrNotLinked = errors.New("baileys: it is not linked to a phone")

// Entry is what Baileys keeps under a name: pre-key-7, session-5511999990000.0. The name
// may be changed as Baileys changes it for a file, without the .json behind it.
type Entry struct {
	Name  string
	Value []byte // JSON
}

// Read reads a device: its credentials (creds) and its entries. An error among the entries
// ends it, and is returned, as is ErrNotLinked. An entry that can't be read is left out: the
// files of a program that was killed may be cut off, and the next message or the phone
// makes up for each of them. Sessions, prekeys and keys of groups among these are counted.
func Read(creds []byte, entries iter.Seq2[Entry, error]) (keys.ForeignDevice, error) {
	own, err := readCreds(creds)
	if err != nil {
		return keys.ForeignDevice{}, err
	}
	s := &state{
		own: own, numbers: map[string]bool{own.device.ID.User: true}, lids: map[string]bool{},
		sessions: map[address][]byte{}, identities: map[address][32]byte{}, senderKeys: map[member][]byte{},
		material: keys.Material{
			Device: own.device, NextPreKey: own.nextPreKey,
			PreKeys: map[uint32]keys.MaterialPreKey{}, SyncKeys: map[string]store.AppStateSyncKey{}, Collections: map[string]keys.MaterialCollection{},
		},
	}
	if !own.device.LID.IsEmpty() {
		s.lids[own.device.LID.User] = true
	}
	for entry, err := range entries {
		if err != nil {
			return keys.ForeignDevice{}, err
		}
		s.take(entry)
	}
	s.place()
	found, err := s.material.Assemble()
	found.Unreadable += s.unreadable
	return found, err
}

// Pair is somebody under both addresses.
type Pair struct{ LID, Number string }

// ReadPair reads the entry of a pair of number and LID. Any other is not ok.
func ReadPair(entry Entry) (pair Pair, ok bool) {
	what, rest := splitName(entry.Name)
	number, isReverse := lidName(rest)
	var lid string
	if what != kindPair || isReverse || decode(entry.Value, &lid) != nil || !isUser(lid) || !isUser(number) {
		return Pair{}, false
	}
	return Pair{LID: lid, Number: number}, true
}

// IsPair reports whether ReadPair may be ok for an entry of this name.
func IsPair(name string) bool {
	what, rest := splitName(name)
	_, isReverse := lidName(rest)
	return what == kindPair && !isReverse
}

// NeedsValue reports whether Read looks at the value of an entry of this name. The name
// alone is enough otherwise.
func NeedsValue(name string) bool {
	switch what, _ := splitName(name); what {
	case "", kindPair, kindSenderKeyMemory, kindDeviceList:
		return false
	default:
		return true
	}
}

// state is a device as far as it was read.
type state struct {
	own        credentials
	material   keys.Material
	sessions   map[address][]byte
	identities map[address][32]byte
	senderKeys map[member][]byte
	numbers    map[string]bool // users that are known to be numbers
	lids       map[string]bool // and LIDs
	unreadable int
}

// take reads an entry. Those of kinds that nobody needs any more are not looked at.
func (s *state) take(entry Entry) {
	switch what, rest := splitName(entry.Name); what {
	case kindPreKey:
		s.takePreKey(rest, entry.Value)
	case kindSession:
		s.takeSession(rest, entry.Value)
	case kindSenderKey:
		s.takeSenderKey(rest, entry.Value)
	case kindIdentity:
		s.takeIdentity(rest, entry.Value)
	case kindSyncKey:
		s.takeSyncKey(rest, entry.Value)
	case kindCollection:
		s.takeCollection(rest, entry.Value)
	case kindToken:
		s.takeToken(rest, entry.Value)
	case kindPair:
		s.takePair(rest)
	default:
	}
}

func (s *state) takeSession(rest string, value []byte) {
	at, ok := parseAddress(rest)
	if !ok {
		s.unreadable++
		return
	}
	read, err := readSession(value, s.own.identity, s.own.device.RegistrationID)
	if err != nil {
		s.unreadable++
		return
	}
	s.sessions[at] = read.record
	if _, known := s.identities[at]; !known { // versions before 7 keep no other
		s.identities[at] = read.identity
	}
}

func (s *state) takeSenderKey(rest string, value []byte) {
	who, ok := parseMember(rest)
	if !ok {
		s.unreadable++
		return
	}
	record, err := readSenderKey(value)
	switch {
	case err != nil:
		s.unreadable++
	case record != nil: // else nothing was received yet
		s.senderKeys[who] = record
	}
}

func (s *state) takeIdentity(rest string, value []byte) {
	var key buffer
	at, ok := parseAddress(rest)
	if !ok || decode(value, &key) != nil {
		return // the next message brings it
	}
	if public, ok := publicKey(key); ok {
		s.identities[at] = [32]byte(public[1:])
	}
}

// takePair notes of whose addresses it is known what they are.
func (s *state) takePair(rest string) {
	user, isReverse := lidName(rest)
	if isReverse {
		s.lids[user] = true
	} else {
		s.numbers[user] = true
	}
}

// longNumber is the length from which digits may be a LID as well as a number.
const longNumber = 14

// place gives every key the address that whatsmeow looks for. Versions before 7 name a LID
// as they name a number: what may be either is put under both.
func (s *state) place() {
	s.material.Sessions = placed(s, s.sessions, address.own, func(at address) string { return at.String() })
	s.material.Identities = placed(s, s.identities, address.own, func(at address) string { return at.String() })
	s.material.SenderKeys = placed(s, s.senderKeys, member.own, func(who member) keys.MaterialGroupMember {
		return keys.MaterialGroupMember{Group: who.group, Member: who.device.String()}
	})
}

// placed puts values under names, of which there may be two. What Baileys itself has put
// under a name stays there.
func placed[K, N comparable, V any](s *state, values map[K]V, at func(K) (address, func(address) K), name func(K) N) map[N]V {
	found := make(map[N]V, len(values))
	for key, value := range values {
		device, with := at(key)
		asLID := device
		asLID.domain = types.LIDDomain
		other := with(asLID)
		_, isThere := values[other]
		switch {
		case device.domain != types.WhatsAppDomain || s.numbers[device.user]:
			found[name(key)] = value
		case s.lids[device.user]:
			if !isThere {
				found[name(other)] = value
			}
		case len(device.user) >= longNumber && !isThere:
			found[name(key)], found[name(other)] = value, value
		default:
			found[name(key)] = value
		}
	}
	return found
}
