package sessionrecord

import (
	"encoding/json"
	"strings"
	"testing"

	"go.mau.fi/libsignal/keys/chain"
	"go.mau.fi/libsignal/state/record"

	"github.com/recado-project/recado/internal/testkit/cases"
)

// public makes a public key.
func public(n byte) []byte { return append([]byte{5, n}, make([]byte, publicKeyBytes-2)...) }

// recordOf makes a record of sessions. A session is a letter that names it and a number
// that says how far it is: A0, B2.
func recordOf(sessions string) *record.SessionStructure {
	var states []*record.StateStructure
	for text := range strings.FieldsSeq(sessions) {
		states = append(states, &record.StateStructure{
			RootKey: []byte(text), SenderBaseKey: public(text[0]), LocalIdentityPublic: public(1), RemoteIdentityPublic: public(2),
			SenderChain:    &record.ChainStructure{ChainKey: &chain.KeyStructure{Key: []byte{1}}, SenderRatchetKeyPublic: public(3)},
			ReceiverChains: []*record.ChainStructure{},
		})
	}
	return &record.SessionStructure{SessionState: states[0], PreviousStates: append([]*record.StateStructure{}, states[1:]...)}
}

// sessionsOf reads a record back.
func sessionsOf(t *testing.T, encoded []byte) string {
	t.Helper()
	read, err := Format{}.Deserialize(encoded)
	if err != nil {
		t.Fatal(err)
	}
	list := []string{string(read.SessionState.RootKey)}
	for _, state := range read.PreviousStates {
		list = append(list, string(state.RootKey))
	}
	return strings.Join(list, " ")
}

// What libsignal writes after a search is the used session in front, the current
// one spoiled (A9), and the used one a second time.
func TestMendSession(t *testing.T) {
	t.Parallel()
	inJSON := func(session *record.SessionStructure) []byte {
		encoded, err := json.Marshal(session)
		if err != nil {
			t.Fatal(err)
		}
		return encoded
	}
	for name, c := range cases.Sorted(map[string]struct{ before, after, want string }{
		"nothing is archived":         {"A0", "A1", "A1"},
		"the current one was used":    {"A0 B0", "A1 B0", "A1 B0"},
		"an archived one was used":    {"A0 B0", "B1 A9 B1", "B1 A0"},
		"the last of three was used":  {"A0 B0 C0", "C1 A9 B9 C1", "C1 A0 B0"},
		"a new one was begun":         {"A0 B0", "D0 A0 B0", "D0 A0 B0"},
		"a new one beside one of old": {"A0", "D0 A0", "D0 A0"},
	}) {
		for format, write := range cases.Sorted(map[string]func(*record.SessionStructure) []byte{
			"as this program writes it": Format{}.Serialize, "as libsignal does": inJSON,
		}) {
			t.Run(name+", "+format, func(t *testing.T) {
				t.Parallel()
				mended, err := Mend(write(recordOf(c.before)), Format{}.Serialize(recordOf(c.after)))
				if err != nil {
					t.Fatal(err)
				}
				if got := sessionsOf(t, mended); got != c.want {
					t.Errorf("got %s, want %s", got, c.want)
				}
			})
		}
	}
	first := Format{}.Serialize(recordOf("A0"))
	if mended, err := Mend(nil, first); err != nil || sessionsOf(t, mended) != "A0" {
		t.Errorf("the first session of a pair became %s (%v)", mended, err)
	}
	for _, broken := range []string{"{", `{"SessionState":{"SenderBaseKey":1}}`, "\xff", `{"SessionState":{}}`, `{}`} {
		if _, err := Mend([]byte(broken), first); err == nil {
			t.Errorf("%s was taken for a record", broken)
		}
	}
}
