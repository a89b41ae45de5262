// Prekeys, app state, and tokens.

package baileys

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/whatsapp/keys"
)

// preKeyBits is how many bits the id of a prekey has on its way to the platform.
const preKeyBits = 24

func (s *state) takePreKey(rest string, value []byte) {
	id, err := strconv.ParseUint(rest, 10, preKeyBits)
	var pair keyPair
	if err != nil || decode(value, &pair) != nil || len(pair.Private) != 32 {
		s.unreadable++
		return
	}
	s.material.PreKeys[uint32(id)] = keys.MaterialPreKey{Private: [32]byte(pair.Private), Given: id < uint64(s.own.firstAtHome)}
}

// number is a whole number that is written as one, or as a text.
type number int64

// UnmarshalJSON reads the number.
func (n *number) UnmarshalJSON(encoded []byte) error {
	text := strings.Trim(string(encoded), `"`)
	if text == "null" || text == "" {
		*n = 0
		return nil
	}
	read, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return errFormat
	}
	*n = number(read)
	return nil
}

// takeSyncKey reads a key of app state. whatsmeow asks the phone for one that is missing.
func (s *state) takeSyncKey(rest string, value []byte) {
	id, err := base64.StdEncoding.DecodeString(unfileName(rest))
	var key struct {
		Data        buffer `json:"keyData"`
		Timestamp   number `json:"timestamp"`
		Fingerprint struct {
			RawID         uint32   `json:"rawId"`
			CurrentIndex  uint32   `json:"currentIndex"`
			DeviceIndexes []uint32 `json:"deviceIndexes"`
		} `json:"fingerprint"`
	}
	if err != nil || len(id) == 0 || decode(value, &key) != nil || len(key.Data) == 0 {
		return
	}
	fingerprint, err := proto.Marshal(&waE2E.AppStateSyncKeyFingerprint{
		RawID: &key.Fingerprint.RawID, CurrentIndex: &key.Fingerprint.CurrentIndex, DeviceIndexes: key.Fingerprint.DeviceIndexes,
	})
	if err != nil {
		return
	}
	s.material.SyncKeys[string(id)] = store.AppStateSyncKey{Data: key.Data, Fingerprint: fingerprint, Timestamp: int64(key.Timestamp)}
}

// takeCollection reads how far a collection of app state is. One that can't be read is
// left out: it is fetched anew as a whole.
func (s *state) takeCollection(name string, value []byte) {
	var read struct {
		Version number `json:"version"`
		Hash    buffer `json:"hash"`
		Entries map[string]struct {
			ValueMAC buffer `json:"valueMac"`
		} `json:"indexValueMap"`
	}
	if decode(value, &read) != nil || len(read.Hash) != 128 || read.Version <= 0 {
		return
	}
	collection := keys.MaterialCollection{Version: uint64(read.Version), Hash: [128]byte(read.Hash)}
	for encoded, entry := range read.Entries {
		index, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil || len(index) != 32 || len(entry.ValueMAC) != 32 {
			return
		}
		collection.Entries = append(collection.Entries, store.AppStateMutationMAC{IndexMAC: index, ValueMAC: entry.ValueMAC})
	}
	slices.SortFunc(collection.Entries, func(a, b store.AppStateMutationMAC) int {
		return cmp.Compare(string(a.IndexMAC), string(b.IndexMAC))
	})
	s.material.Collections[name] = collection
}

// takeToken reads a token for writing to somebody. One that can't be read is left out:
// whoever writes brings a new one.
func (s *state) takeToken(rest string, value []byte) {
	user, err := types.ParseJID(rest)
	var read struct {
		Token  buffer `json:"token"`
		At     number `json:"timestamp"`       // in seconds
		SentAt number `json:"senderTimestamp"` // in seconds
	}
	if err != nil || !isUser(user.User) || decode(value, &read) != nil || len(read.Token) == 0 {
		return
	}
	token := store.PrivacyToken{User: user, Token: read.Token, Timestamp: time.Unix(int64(read.At), 0)}
	if read.SentAt != 0 {
		token.SenderTimestamp = time.Unix(int64(read.SentAt), 0)
	}
	s.material.Tokens = append(s.material.Tokens, token)
}
