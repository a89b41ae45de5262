package keys

import (
	"context"
	"errors"
	"testing"

	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/testkit/cases"
)

// wantNames checks whom the reader of names finds, and under which names.
func wantNames(t *testing.T, keys *Keys, device string, want map[string]string) {
	t.Helper()
	found, err := keys.Names(device).All(t.Context())
	check(t, err)
	got := map[string]string{}
	for who, info := range found {
		got[who.User] = info.FullName + info.PushName
	}
	if len(got) != len(want) {
		t.Errorf("the names are %v, want %v", got, want)
	}
	for who, name := range cases.Sorted(want) {
		if got[who] != name {
			t.Errorf("the names are %v, want %v", got, want)
		}
	}
}

// Names are read with and without a session, here and in another process, and what reads them
// takes the keys over from none: the session goes on writing.
func TestNamesAreReadBesideASession(t *testing.T) {
	t.Parallel()
	kept := openStore(t)
	keys, elsewhere := newKeys(t, kept), newKeys(t, kept)
	ana, bruno := types.NewJID("5511988880001", types.DefaultUserServer), types.NewJID("5511988880002", types.DefaultUserServer)
	wantNames(t, keys, ownDevice, nil)
	device := linkDevice(t, keys)
	wantNames(t, keys, ownDevice, nil)

	check(t, device.Contacts.PutContactName(t.Context(), ana, "", "Ana"))
	if _, _, err := device.Contacts.PutPushName(t.Context(), bruno, "Bruno"); err != nil {
		t.Fatal(err)
	}
	wantNames(t, keys, ownDevice, map[string]string{ana.User: "Ana", bruno.User: "Bruno"})
	wantNames(t, elsewhere, ownDevice, map[string]string{ana.User: "Ana"}) // the other one is not written yet
	check(t, device.Sessions.PutSession(t.Context(), "1:0", []byte(before)))
	wantNames(t, elsewhere, ownDevice, map[string]string{ana.User: "Ana", bruno.User: "Bruno"})

	check(t, keys.Release(t.Context(), device))
	wantNames(t, keys, ownDevice, map[string]string{ana.User: "Ana", bruno.User: "Bruno"})
	again := load(t, elsewhere)
	wantNames(t, keys, ownDevice, map[string]string{ana.User: "Ana", bruno.User: "Bruno"})
	check(t, again.PutContactName(t.Context(), ana, "", "Ana Souza"))
	wantNames(t, keys, ownDevice, map[string]string{ana.User: "Ana Souza", bruno.User: "Bruno"})

	check(t, elsewhere.Forget(t.Context(), ownDevice))
	for _, one := range []*Keys{keys, elsewhere} {
		wantNames(t, one, ownDevice, nil)
		wantNames(t, one, "", nil)
	}
}

// A caller that gives up is no failure of the database: the session keeps its connection.
func TestReadersMayGiveUp(t *testing.T) {
	t.Parallel()
	keys := newKeys(t, openStore(t))
	device := linkDevice(t, keys)
	failed := false
	Observe(device, Observer{DatabaseFailed: func() { failed = true }})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := keys.Names(ownDevice).All(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("the names were read with %v", err)
	}
	if _, err := device.Sessions.GetSession(gone, "1:0"); !errors.Is(err, context.Canceled) {
		t.Errorf("a session was read with %v", err)
	}
	if err := device.Contacts.PutContactName(gone, types.NewJID("1", types.HiddenUserServer), "", "Ana"); !errors.Is(err, context.Canceled) {
		t.Errorf("a name was written with %v", err)
	}
	if failed {
		t.Error("the session gives up its connection")
	}
}
