package sessionrecord

import (
	"encoding/json"
	"reflect"
	"testing"

	"go.mau.fi/libsignal/keys/chain"
	"go.mau.fi/libsignal/keys/message"
	"go.mau.fi/libsignal/state/record"
	"go.mau.fi/libsignal/util/optional"

	"github.com/recado-project/recado/internal/testkit/cases"
)

// fullSession is a record in which every field is set that a session may have.
func fullSession() *record.SessionStructure {
	link := func(n byte) *record.ChainStructure {
		return &record.ChainStructure{
			SenderRatchetKeyPublic: public(n), SenderRatchetKeyPrivate: []byte{6, n}, ChainKey: &chain.KeyStructure{Key: []byte{7, n}, Index: 1 << 31},
			MessageKeys: []*message.KeysStructure{{CipherKey: []byte{8}, MacKey: []byte{9}, IV: []byte{10}, Index: 11}, {CipherKey: []byte{12}}},
		}
	}
	state := func(n byte, id *optional.Uint32) *record.StateStructure {
		return &record.StateStructure{
			LocalIdentityPublic: public(n), LocalRegistrationID: 1<<32 - 1, NeedsRefresh: true, PreviousCounter: 3,
			PendingPreKey:  &record.PendingPreKeyStructure{PreKeyID: id, SignedPreKeyID: 1<<32 - 1, BaseKey: public(7)},
			ReceiverChains: []*record.ChainStructure{link(1), link(2)}, RemoteIdentityPublic: public(8), RemoteRegistrationID: 9,
			RootKey: []byte{10}, SenderBaseKey: public(11), SenderChain: link(3), SessionVersion: 3,
		}
	}
	return &record.SessionStructure{
		SessionState:   state(1, optional.NewOptionalUint32(0)),
		PreviousStates: []*record.StateStructure{state(2, optional.NewEmptyUint32()), recordOf("A0").SessionState},
	}
}

// asText shows a record; libsignal makes no difference between empty and missing lists.
func asText(t *testing.T, session *record.SessionStructure) string {
	t.Helper()
	encoded, err := json.Marshal(session)
	if err != nil {
		t.Fatal(err)
	}
	var fields any
	if err := json.Unmarshal(encoded, &fields); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(pruned(fields))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// pruned leaves out what is empty.
func pruned(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, field := range value {
			if field = pruned(field); field == nil || reflect.ValueOf(field).IsZero() {
				delete(value, name)
			} else {
				value[name] = field
			}
		}
	case []any:
		for n := range value {
			value[n] = pruned(value[n])
		}
		if len(value) == 0 {
			return nil
		}
	}
	return value
}

// A record is read as it was written, by this program and by libsignal, and takes less
// than half of the bytes.
func TestFormat(t *testing.T) {
	t.Parallel()
	for name, session := range cases.Sorted(map[string]*record.SessionStructure{"every field": fullSession(), "few fields": recordOf("A0 B1")}) {
		compact := Format{}.Serialize(session)
		inJSON, err := json.Marshal(session)
		if err != nil {
			t.Fatal(err)
		}
		if len(compact) > len(inJSON)/2 {
			t.Errorf("%s: %d bytes, and %d in JSON", name, len(compact), len(inJSON))
		}
		for format, encoded := range cases.Sorted(map[string][]byte{"compact": compact, "JSON": inJSON}) {
			read, err := Format{}.Deserialize(encoded)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := asText(t, read), asText(t, session); got != want {
				t.Errorf("%s, %s:\ngot  %s\nwant %s", name, format, got, want)
			}
			if !hasArchive(encoded) {
				t.Errorf("%s, %s: the archived session is not seen", name, format)
			}
		}
	}
	if hasArchive(Format{}.Serialize(recordOf("A0"))) {
		t.Error("there is an archive in a record without one")
	}
}

// Whatever lies in the database, reading it fails or gives a session that libsignal can
// work with.
func FuzzFormat(f *testing.F) {
	full := Format{}.Serialize(fullSession())
	inJSON, err := json.Marshal(fullSession())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(full)
	f.Add(inJSON)
	f.Add([]byte{0x0a, 0})
	f.Fuzz(func(t *testing.T, encoded []byte) {
		session, err := record.NewSessionFromBytes(encoded, Format{}, nil)
		if err != nil {
			return
		}
		again, err := record.NewSessionFromBytes(session.Serialize(), Format{}, nil)
		if err != nil {
			t.Fatalf("a session that was read can't be read again: %v", err)
		}
		_ = again.SessionState().HasSenderChain()
		_ = hasArchive(encoded)
	})
}
