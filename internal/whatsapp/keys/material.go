// Keys of a device that another program keeps in a form of its own, which is not
// whatsmeow's.

package keys

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	wakeys "go.mau.fi/whatsmeow/util/keys"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/sessionrecord"
)

// Material is everything of a linked device that another program has, as whatsmeow would
// have it. Only Device is required.
type Material struct {
	Device      *store.Device // its keys, its account and its names; no stores
	PreKeys     map[uint32]MaterialPreKey
	NextPreKey  uint32                           // the id of the next one to make: a lower one may be with somebody
	Sessions    map[string][]byte                // sessionrecord.Format, by the address of the other device
	Identities  map[string][32]byte              // public keys, by the same addresses
	SenderKeys  map[MaterialGroupMember][]byte   // records of libsignal
	SyncKeys    map[string]store.AppStateSyncKey // by id
	Collections map[string]MaterialCollection    // of app state, by name
	Tokens      []store.PrivacyToken
}

// MaterialPreKey is a prekey.
type MaterialPreKey struct {
	Private [32]byte
	Given   bool // the platform has it
}

// MaterialGroupMember is a device of a member of a group.
type MaterialGroupMember struct {
	Group  string // its JID
	Member string // address of the device
}

// MaterialCollection is how far a collection of app state is, with its entries.
type MaterialCollection struct {
	Version uint64
	Hash    [128]byte
	Entries []store.AppStateMutationMAC
}

// Assemble makes a device of material. A session that can't be read is counted and left
// out.
func (m *Material) Assemble() (ForeignDevice, error) {
	found, err := newForeignDevice(m.Device)
	if err != nil {
		return found, err
	}
	add := func(kind, name string, value []byte) {
		found.Rows = append(found.Rows, gateway.DeviceKey{Kind: kind, Name: name, Value: value})
	}
	for _, address := range slices.Sorted(maps.Keys(m.Sessions)) {
		if _, err := (sessionrecord.Format{}).Deserialize(m.Sessions[address]); err != nil {
			found.Unreadable++
			continue
		}
		found.Sessions++
		add(kindSession, nameOf(address), m.Sessions[address])
	}
	for _, address := range slices.Sorted(maps.Keys(m.Identities)) {
		key := m.Identities[address]
		add(kindIdentity, nameOf(address), key[:])
	}
	for member, record := range m.SenderKeys {
		found.SenderKeys++
		add(kindSenderKey, nameOf(member.Member, member.Group), record)
	}
	m.addPreKeys(&found, add)
	return found, m.addState(add)
}

// addPreKeys adds the prekeys. Recado counts on from the last one that it has: if the
// other program's last ones are used up, one that nobody has keeps the count.
func (m *Material) addPreKeys(found *ForeignDevice, add func(kind, name string, value []byte)) {
	last := uint32(0)
	for _, id := range slices.Sorted(maps.Keys(m.PreKeys)) {
		key := m.PreKeys[id]
		add(kindPreKey, preKeyName(id), preKeyValue(key.Private[:], key.Given))
		found.PreKeys++
		last = id
	}
	if m.NextPreKey > last+1 {
		add(kindPreKey, preKeyName(m.NextPreKey), preKeyValue(wakeys.NewPreKey(m.NextPreKey).Priv[:], false))
	}
}

// addState adds app state, and tokens.
func (m *Material) addState(add func(kind, name string, value []byte)) error {
	for id, key := range m.SyncKeys {
		encoded, err := json.Marshal(key)
		if err != nil {
			return fmt.Errorf("keys: write app state key: %w", err)
		}
		add(kindSyncKey, hex.EncodeToString([]byte(id)), encoded)
	}
	for name, collection := range m.Collections {
		add(kindStateVersion, nameOf(name), versioned(collection.Version, collection.Hash[:]))
		for _, entry := range collection.Entries {
			add(kindMutation, mutationName(name, entry.IndexMAC), versioned(collection.Version, entry.ValueMAC))
		}
	}
	for _, token := range m.Tokens {
		row := tokenRow{Token: token.Token, At: token.Timestamp.Unix()}
		if !token.SenderTimestamp.IsZero() {
			row.SentAt = token.SenderTimestamp.Unix()
		}
		encoded, err := json.Marshal(row)
		if err != nil {
			return fmt.Errorf("keys: write privacy token: %w", err)
		}
		add(kindToken, nameOf(token.User.ToNonAD().String()), encoded)
	}
	return nil
}

// newForeignDevice makes a device with the row of its own keys, and without others.
func newForeignDevice(device *store.Device) (ForeignDevice, error) {
	if device.ID == nil || device.ID.Server != types.DefaultUserServer || device.ID.User == "" {
		return ForeignDevice{}, errors.New("keys: it is not a device of a number")
	}
	encoded, err := writeDevice(device)
	if err != nil {
		return ForeignDevice{}, err
	}
	found := ForeignDevice{
		Device:  device.ID.String(),
		Profile: gateway.Profile{JID: gateway.JID(device.ID.ToNonAD().String()), Name: gateway.CleanName(device.PushName)},
		Rows:    []gateway.DeviceKey{{Kind: kindDevice, Value: encoded}},
	}
	if !device.LID.IsEmpty() {
		found.Profile.LID = gateway.JID(device.LID.ToNonAD().String())
	}
	return found, nil
}

// CopyPairs copies the pairs of number and LID with which each calls add. It leaves out those of a number
// that the store knows a pair of.
func CopyPairs(ctx context.Context, to Store, each func(ctx context.Context, add func(lid, number string) error) error) error {
	people, err := newPeople(to)
	if err != nil {
		return err
	}
	var fresh []store.LIDMapping
	err = each(ctx, func(lid, number string) error {
		pair := store.LIDMapping{LID: types.NewJID(lid, types.HiddenUserServer), PN: types.NewJID(number, types.DefaultUserServer)}
		if known, err := people.GetLIDForPN(ctx, pair.PN); err != nil || !known.IsEmpty() {
			return err
		}
		if fresh = append(fresh, pair); len(fresh) < pairsAtOnce {
			return nil
		}
		err := people.PutManyLIDMappings(ctx, fresh)
		fresh = nil
		return err
	})
	if err != nil {
		return err
	}
	return people.PutManyLIDMappings(ctx, fresh)
}
