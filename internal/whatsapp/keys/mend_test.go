package keys

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// record writes a session record as libsignal does. A session is a letter that
// names it and a number that says how far it is: A0, B2.
func record(sessions string) []byte {
	var states []string
	for text := range strings.FieldsSeq(sessions) {
		states = append(states, fmt.Sprintf(`{"RootKey":%q,"SenderBaseKey":%q}`, text, text[:1]+"AAA"))
	}
	return []byte(`{"SessionState":` + states[0] + `,"PreviousStates":[` + strings.Join(states[1:], ",") + `]}`)
}

// sessionsOf reads a record back.
func sessionsOf(t *testing.T, encoded []byte) string {
	t.Helper()
	read, err := readRecord(encoded)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, session := range append([]json.RawMessage{read.SessionState}, read.PreviousStates...) {
		var state struct {
			RootKey string `json:"RootKey"` //nolint:tagliatelle // libsignal's name
		}
		if err := json.Unmarshal(session, &state); err != nil {
			t.Fatal(err)
		}
		list = append(list, state.RootKey)
	}
	return strings.Join(list, " ")
}

// What libsignal writes after a search is the used session in front, the current
// one spoiled (A9), and the used one a second time.
func TestMendSession(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, after, want string }{
		"nothing is archived":         {"A0", "A1", "A1"},
		"the current one was used":    {"A0 B0", "A1 B0", "A1 B0"},
		"an archived one was used":    {"A0 B0", "B1 A9 B1", "B1 A0"},
		"the last of three was used":  {"A0 B0 C0", "C1 A9 B9 C1", "C1 A0 B0"},
		"a new one was begun":         {"A0 B0", "D0 A0 B0", "D0 A0 B0"},
		"a new one beside one of old": {"A0", "D0 A0", "D0 A0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mended, err := mendSession(record(c.before), record(c.after))
			if err != nil {
				t.Fatal(err)
			}
			if got := sessionsOf(t, mended); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
	if mended, err := mendSession(nil, record("A0")); err != nil || sessionsOf(t, mended) != "A0" {
		t.Errorf("the first session of a pair became %s (%v)", mended, err)
	}
	for _, broken := range []string{"{", `{"SessionState":{"SenderBaseKey":1}}`} {
		if _, err := mendSession([]byte(broken), record("A0")); err == nil {
			t.Errorf("%s was taken for a record", broken)
		}
	}
}
