// Tests of the tables of devices and their keys.

package storetest

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// keyChanges are rows that a test writes.
type keyChanges struct {
	rows    []gateway.DeviceKey
	written int
}

func (c *keyChanges) Rows() []gateway.DeviceKey { return c.rows }
func (c *keyChanges) Written()                  { c.written++ }

func (f *fixture) device(jid string, rows ...gateway.DeviceKey) int64 {
	f.t.Helper()
	number, err := f.Devices.AddDevice(f.ctx(), jid, rows)
	f.check(err)
	return number
}

func (f *fixture) sessionsNamed(device int64, prefix string) []string {
	f.t.Helper()
	rows, err := f.Devices.ListDeviceKeys(f.ctx(), device, "session", prefix)
	f.check(err)
	var names []string
	for _, row := range rows {
		names = append(names, row.Name+"="+string(row.Value))
	}
	return names
}

func testDeviceKeys(t *testing.T, f *fixture) {
	t.Helper()
	const jid = "5511999990000:2@s.whatsapp.net"
	if _, found, err := f.Devices.FindDevice(f.ctx(), jid); err != nil || found {
		t.Fatalf("a device that was not added is found: %v (%v)", found, err)
	}
	number := f.device(jid, gateway.DeviceKey{Kind: "device", Value: []byte("first")})
	other := f.device("5511999990000:3@s.whatsapp.net", gateway.DeviceKey{Kind: "session", Name: "1:0", Value: []byte("other's")})
	if again, found, err := f.Devices.FindDevice(f.ctx(), jid); err != nil || !found || again != number || other == number || number == 0 {
		t.Fatalf("device %d (%v) is found, want %d (%v)", again, found, number, err)
	}
	row := func(name, value string) gateway.DeviceKey {
		return gateway.DeviceKey{Device: number, Kind: "session", Name: name, Value: []byte(value)}
	}
	changes := &keyChanges{rows: []gateway.DeviceKey{row("1:0", "a"), row("1:1", "b"), row("12:0", "c"), row("é:0", "d"), row("empty", "")}}
	f.check(f.Devices.WriteDeviceKeys(f.ctx(), newID(), changes))
	if changes.written != 1 {
		t.Errorf("after the commit it was said %d times", changes.written)
	}
	kept := row("1:0", "not this")
	kept.IfAbsent = true
	removed := gateway.DeviceKey{Device: number, Kind: "session", Name: "1:1"}
	f.check(f.Devices.WriteDeviceKeys(f.ctx(), newID(), &keyChanges{rows: []gateway.DeviceKey{kept, removed, row("12:0", "C")}}))

	for prefix, want := range cases.Sorted(map[string][]string{
		"": {"12:0=C", "1:0=a", "empty=", "é:0=d"}, "1:": {"1:0=a"}, "é": {"é:0=d"}, "2": nil,
	}) {
		if got := f.sessionsNamed(number, prefix); !slices.Equal(got, want) {
			t.Errorf("names that begin with %q: %q, want %q", prefix, got, want)
		}
	}
	if value, err := f.Devices.FindDeviceKey(f.ctx(), number, "session", "empty"); err != nil || value == nil {
		t.Errorf("an empty value is %v (%v)", value, err)
	}
	if value, err := f.Devices.FindDeviceKey(f.ctx(), number, "session", "1:1"); err != nil || value != nil {
		t.Errorf("a row that was removed is %q (%v)", value, err)
	}

	several, err := f.Devices.FindDeviceKeys(f.ctx(), number, "session", []string{"12:0", "1:1", "é:0", "empty", "12", "\"];--"})
	f.check(err)
	if want := map[string][]byte{"12:0": []byte("C"), "é:0": []byte("d"), "empty": {}}; !maps.EqualFunc(several, want, bytes.Equal) || several["empty"] == nil {
		t.Errorf("several rows are %q, want %q", several, want)
	}
	if none, err := f.Devices.FindDeviceKeys(f.ctx(), number, "session", nil); err != nil || len(none) > 0 {
		t.Errorf("no rows are %q (%v)", none, err)
	}
	if none, err := f.Devices.FindDeviceKeys(f.ctx(), number, "device", []string{"12:0"}); err != nil || len(none) > 0 {
		t.Errorf("rows of another kind are %q (%v)", none, err)
	}

	// The same name with new keys: nothing of the old ones stays.
	number = f.device(jid)
	if got := f.sessionsNamed(number, ""); len(got) > 0 {
		t.Errorf("new keys begin with %q", got)
	}
	f.check(f.Devices.RemoveDevice(f.ctx(), jid))
	f.check(f.Devices.RemoveDevice(f.ctx(), jid))
	if err := f.Devices.WriteDeviceKeys(f.ctx(), newID(), &keyChanges{rows: []gateway.DeviceKey{{Device: number, Kind: "session", Name: "1", Value: []byte("x")}}}); err == nil {
		t.Error("keys of a device that is gone were written")
	}
	if got := f.sessionsNamed(other, ""); !slices.Equal(got, []string{"1:0=other's"}) {
		t.Errorf("another device has %q", got)
	}
}

// A message and the keys that its decryption has changed are one transaction.
func testKeysOfAMessage(t *testing.T, f *fixture) {
	t.Helper()
	instance := f.instance(f.account().ID, 0)
	number := f.device("5511999990000:2@s.whatsapp.net")
	message := f.message(instance, 1)
	message.WireKey = "wire"
	changes := &keyChanges{rows: []gateway.DeviceKey{{Device: number, Kind: "session", Name: "1:0", Value: []byte("a")}}}
	for n := range 2 { // the second delivery changes nothing but the keys
		added, err := f.AddMessage(gateway.WithDeviceKeys(f.ctx(), changes), message)
		f.check(err)
		if added != (n == 0) || changes.written != n+1 {
			t.Errorf("delivery %d: added %v, keys written %d times", n+1, added, changes.written)
		}
		message.ID = newID()
	}
	if got := f.sessionsNamed(number, ""); !slices.Equal(got, []string{"1:0=a"}) {
		t.Errorf("the keys are %q", got)
	}

	// Neither is kept without the other.
	message.InstanceID, message.WireKey = newID(), "another"
	changes.rows[0].Value = []byte("b")
	if _, err := f.AddMessage(gateway.WithDeviceKeys(f.ctx(), changes), message); err == nil {
		t.Error("a message of an instance that is gone was kept")
	}
	if got := f.sessionsNamed(number, ""); !slices.Equal(got, []string{"1:0=a"}) || changes.written != 2 {
		t.Errorf("the keys are %q", got)
	}
}
