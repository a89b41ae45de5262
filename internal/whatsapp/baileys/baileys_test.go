package baileys

import (
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/whatsapp/keys"
)

// device is what Baileys 7.0.0-rc14 has written for a device of the sandbox, without most
// of the prekeys: JSON by name, its credentials among them.
func device(tb testing.TB) map[string]json.RawMessage {
	tb.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "device.json"))
	if err != nil {
		tb.Fatal(err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(content, &all); err != nil {
		tb.Fatal(err)
	}
	return all
}

func entriesOf(all map[string]json.RawMessage) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if name != "creds" && !yield(Entry{Name: name, Value: all[name]}, nil) {
				return
			}
		}
	}
}

// rowsOf are the names of rows, by kind.
func rowsOf(found keys.ForeignDevice) map[string][]string {
	rows := map[string][]string{}
	for _, row := range found.Rows {
		rows[row.Kind] = append(rows[row.Kind], row.Name)
	}
	for _, names := range cases.Sorted(rows) {
		slices.Sort(names)
	}
	return rows
}

// Everything that a device has is under the names that whatsmeow looks for.
func TestRead(t *testing.T) {
	t.Parallel()
	all := device(t)
	found, err := Read(all["creds"], entriesOf(all))
	check(t, err)
	if found.Device != "4915100000100:1@s.whatsapp.net" || found.Profile.LID != "446494018263152@lid" || found.Profile.Name != "Inês Esteves" {
		t.Errorf("the device is %+v", found.Profile)
	}
	if found.PreKeys != 2 || found.Sessions != 3 || found.SenderKeys != 2 || found.Unreadable != 0 {
		t.Errorf("%d prekeys, %d sessions, %d keys of groups, %d unreadable", found.PreKeys, found.Sessions, found.SenderKeys, found.Unreadable)
	}
	rows := rowsOf(found)
	for kind, want := range cases.Sorted(map[string][]string{
		"device":        {""},
		"session":       {"368232023432062_1:0", "446494018263152_1:0", "446494018263152_1:1"},
		"identity":      {"368232023432062_1:0", "446494018263152_1:0", "446494018263152_1:1"},
		"sender key":    {"368232023432062_1:0 120363098584986145@g.us", "446494018263152_1:1 120363098584986145@g.us"},
		"prekey":        {"00000009", "0000032a", "0000032d"}, // the last one keeps the count
		"app state key": {"000000ffef"},
		"app state":     {"critical_block"},
		"privacy token": {"368232023432062@lid"},
	}) {
		if !slices.Equal(rows[kind], want) {
			t.Errorf("%s: %q, want %q", kind, rows[kind], want)
		}
	}
	if len(rows["app state mutation"]) != 1 || !strings.HasPrefix(rows["app state mutation"][0], "critical_block a5827") {
		t.Errorf("app state mutations: %q", rows["app state mutation"])
	}
	for _, row := range found.Rows {
		if row.Kind == "prekey" && row.Value[32] != map[string]byte{"00000009": 1, "0000032a": 1}[row.Name] {
			t.Errorf("the prekey %s is marked %d", row.Name, row.Value[32])
		}
	}
}

// Versions before 7 name a LID as they name a number. What is known to be one of them is
// put there; what may be either is put under both.
func TestAddressesWithoutDomain(t *testing.T) {
	t.Parallel()
	seven := device(t)
	session := seven["session-368232023432062_1.0"]
	all := map[string]json.RawMessage{
		"session-5511999990000.0": session, "session-5511999990000.3": session, // a number
		"session-446494018263152.0":               session, // the own LID
		"session-238232023432062.0":               session, // either
		"session-138232023432062.0":               session, // a LID
		"lid-mapping-138232023432062_reverse":     json.RawMessage(`"5511999990001"`),
		"session-12345678901234.0":                session, // a long number
		"lid-mapping-12345678901234":              json.RawMessage(`"1"`),
		"session-538232023432062.0":               session, // is there under its own name
		"session-538232023432062_1.0":             session,
		"session-5511999990009_128.99":            session, // hosted
		"sender-key-1-2@g.us--238232023432062--0": seven["sender-key-120363098584986145@g.us--368232023432062_1--0"],
	}
	found, err := Read(seven["creds"], entriesOf(all))
	check(t, err)
	want := []string{
		"12345678901234:0", "138232023432062_1:0", "238232023432062:0", "238232023432062_1:0", "446494018263152_1:0", "538232023432062:0",
		"538232023432062_1:0", "5511999990000:0", "5511999990000:3", "5511999990009_128:99",
	}
	rows := rowsOf(found)
	for _, kind := range []string{"session", "identity"} {
		if !slices.Equal(rows[kind], want) {
			t.Errorf("%s: %q, want %q", kind, rows[kind], want)
		}
	}
	if want := []string{"238232023432062:0 1-2@g.us", "238232023432062_1:0 1-2@g.us"}; !slices.Equal(rows["sender key"], want) {
		t.Errorf("sender key: %q, want %q", rows["sender key"], want)
	}
}

// What is broken is left out, but the credentials. No error holds a value.
func TestBrokenEntries(t *testing.T) {
	t.Parallel()
	for _, broken := range []string{
		``, `"a secret"`, `{}`, `[]`, `7`, `{"_sessions":"a secret"}`, `{"private":"a secret"}`, `{"type":"Buffer","data":"a secret"}`, `nul`,
	} {
		all := device(t)
		for name := range all {
			all[name] = json.RawMessage(broken)
		}
		good := device(t)
		all["session-evil"], all["session-1.x"], all["sender-key-x"] = good["session-446494018263152_1.0"], good["session-446494018263152_1.0"], json.RawMessage("[]")
		found, err := Read(good["creds"], entriesOf(all))
		check(t, err)
		for kind, names := range rowsOf(found) {
			if kind != "device" && (kind != "prekey" || len(names) != 1) {
				t.Errorf("%s: %s came: %q", broken, kind, names)
			}
		}
		if found.Unreadable < 8 {
			t.Errorf("%s: %d are unreadable", broken, found.Unreadable)
		}
		if _, err := Read(all["creds"], entriesOf(good)); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s as credentials: %v", broken, err)
		}
	}
	good := device(t)
	for _, c := range []struct{ field, value, want string }{
		{"me", `null`, "not linked"},
		{"me", `{"name":"x"}`, "not linked"},
		{"account", `null`, "not linked"},
		{"account", `{}`, "a signature of the link has another length"},
		{"me", `{"id":"1@lid"}`, "not a device of a number"},
		{"me", `{"id":"x:1@s.whatsapp.net"}`, "not a device of a number"},
		{"noiseKey", `{"private":"AA=="}`, "a key has another length"},
		{"advSecretKey", `"?"`, "a key has another length"},
		{"registrationId", `"a secret"`, "not what Baileys writes"},
	} {
		var creds map[string]json.RawMessage
		check(t, json.Unmarshal(good["creds"], &creds))
		creds[c.field] = json.RawMessage(c.value)
		if _, err := Read(encoded(t, creds), entriesOf(nil)); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s %s: %v, want %q", c.field, c.value, err, c.want)
		}
	}
	failed := errors.New("the disk is broken")
	_, err := Read(good["creds"], func(yield func(Entry, error) bool) { yield(Entry{}, failed) })
	if !errors.Is(err, failed) {
		t.Errorf("a failed read is answered %v", err)
	}
}

// A pair is read from the number's entry, and its other direction is not read twice.
func TestReadPair(t *testing.T) {
	t.Parallel()
	for name, want := range cases.Sorted(map[string]Pair{
		"lid-mapping-5511999990000": {LID: "236395184570386", Number: "5511999990000"}, "lid-mapping-236395184570386_reverse": {},
		"lid-mapping-x": {}, "session-5511999990000": {},
	}) {
		pair, ok := ReadPair(Entry{Name: name, Value: []byte(`"236395184570386"`)})
		if pair != want || ok != (want.LID != "") || ok && !IsPair(name) {
			t.Errorf("%s: %+v, %v", name, pair, ok)
		}
	}
	if _, ok := ReadPair(Entry{Name: "lid-mapping-5511999990000", Value: []byte(`"x@y"`)}); ok {
		t.Error("a pair of a number and nobody was read")
	}
}

// Whatever lies in the files, reading them ends, in a device or in an error that holds
// nothing of them.
func FuzzRead(f *testing.F) {
	all := device(f)
	for name, value := range all {
		f.Add(name, []byte(value))
	}
	f.Add("session-1.0", []byte(`{"_sessions":{"a":{"_chains":{"b":{"chainKey":{"counter":9e9}}}}}}`))
	f.Add("sender-key-a@g.us--1--0", []byte(`[{"senderChainKey":{"seed":{"0":1,"1":2}}}]`))
	f.Fuzz(func(t *testing.T, name string, value []byte) {
		creds := []byte(all["creds"])
		if name == "creds" {
			creds = value
		}
		found, err := Read(creds, func(yield func(Entry, error) bool) { yield(Entry{Name: name, Value: value}, nil) })
		if err == nil && len(found.Rows) == 0 {
			t.Error("a device without a row")
		}
		ReadPair(Entry{Name: name, Value: value})
	})
}
