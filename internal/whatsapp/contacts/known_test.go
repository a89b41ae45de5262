package contacts_test

import (
	"cmp"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/proto/waAdv"
	wastore "go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	waLog "go.mau.fi/whatsmeow/util/log"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/database"
	"github.com/recado-project/recado/internal/whatsapp/contacts"
	"github.com/recado-project/recado/internal/whatsapp/keys"
)

// linked makes the keys of a device that is linked and that no session uses.
func linked(t *testing.T) (*keys.Keys, *wastore.Device) {
	t.Helper()
	kept, err := store.Open(t.Context(), store.Config{Path: database.File(t), Logger: slog.New(slog.DiscardHandler)})
	check(t, err)
	t.Cleanup(func() { check(t, kept.Close()) })
	all, err := keys.New(keys.Config{Store: kept.Devices, Log: waLog.Noop, Now: time.Now})
	check(t, err)
	device, err := all.Load(t.Context(), "0199a0c4-7f6e-7000-8000-000000000001", "")
	check(t, err)
	own := types.NewADJID("5511999990100", 0, 2)
	device.ID, device.LID = &own, types.NewJID("1", types.HiddenUserServer)
	device.Account = &waAdv.ADVSignedDeviceIdentity{
		Details: []byte{1}, AccountSignature: make([]byte, 64), AccountSignatureKey: make([]byte, 32), DeviceSignature: make([]byte, 64),
	}
	check(t, device.Save(t.Context()))
	return all, device
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Everybody whose name was kept is one contact, under whichever addresses the names came; groups,
// people without a name and the account itself are none.
func TestKnownContacts(t *testing.T) {
	t.Parallel()
	all, device := linked(t)
	jid := func(text string) types.JID {
		parsed, err := types.ParseJID(text)
		check(t, err)
		return parsed
	}
	check(t, device.LIDs.PutManyLIDMappings(t.Context(), []wastore.LIDMapping{
		{LID: jid("2@lid"), PN: jid("5511988880002@s.whatsapp.net")},
		{LID: jid("3@lid"), PN: jid("5511988880003@s.whatsapp.net")},
		{LID: jid("1@lid"), PN: jid("5511999990100@s.whatsapp.net")},
	}))
	check(t, device.Contacts.PutAllContactNames(t.Context(), []wastore.ContactEntry{
		{JID: jid("5511988880002@s.whatsapp.net"), FirstName: "Ana", FullName: "Ana Souza"},
		{JID: jid("4@lid"), FirstName: "Davi"},
		{JID: jid("1-2@g.us"), FullName: "A group"},
		{JID: jid("1@lid"), FullName: "Me"},
		{JID: jid("5511999990100@s.whatsapp.net"), FullName: "Myself"},
	}))
	check(t, device.Contacts.PutManyRedactedPhones(t.Context(), []wastore.RedactedPhoneEntry{{JID: jid("5@lid"), RedactedPhone: "+55 ** 5"}}))
	for who, name := range cases.Sorted(map[string]string{"2@lid": "Aninha", "3@lid": "Carla"}) {
		_, _, err := device.Contacts.PutPushName(t.Context(), jid(who), name)
		check(t, err)
	}
	check(t, keys.PutUsername(t.Context(), device, jid("2@lid"), "ana.souza"))
	_, _, err := device.Contacts.PutBusinessName(t.Context(), jid("5511988880003@s.whatsapp.net"), "Carla & Co.")
	check(t, err)

	want := []string{
		"5511988880002@s.whatsapp.net 2@lid Ana Souza|Ana Souza|Aninha||ana.souza",
		"5511988880003@s.whatsapp.net 3@lid Carla||Carla|Carla & Co.|",
		" 4@lid Davi|Davi|||",
	}
	self := gateway.Party{JID: "5511999990100@s.whatsapp.net", LID: "1@lid"}
	wantKnown := func(known contacts.Known) {
		t.Helper()
		found, err := known.KnownContacts(t.Context())
		check(t, err)
		slices.SortFunc(found, func(a, b gateway.Contact) int { return cmp.Compare(a.Key(), b.Key()) })
		var got []string
		for _, one := range found {
			got = append(got, string(one.JID)+" "+string(one.LID)+" "+strings.Join([]string{one.Name, one.AddressBook, one.PushName, one.BusinessName, one.Username}, "|"))
		}
		if !slices.Equal(got, want) {
			t.Errorf("the contacts are %q, want %q", got, want)
		}
	}
	wantKnown(contacts.Known{Self: self, Names: all.Names(device.ID.String()), Pairs: all.People()})
	check(t, all.Release(t.Context(), device))
	wantKnown(contacts.Known{Self: self, Names: all.Names(device.ID.String()), Pairs: all.People()})
	wantKnown(contacts.Known{Self: gateway.Party{JID: self.JID}, Names: all.Names(device.ID.String()), Pairs: all.People()})
}

// Both addresses of people are found by either.
func TestKnownAddresses(t *testing.T) {
	t.Parallel()
	all, device := linked(t)
	check(t, device.LIDs.PutLIDMapping(t.Context(), types.NewJID("2", types.HiddenUserServer), types.NewJID("5511988880002", types.DefaultUserServer)))
	known := contacts.Known{Names: all.Names(device.ID.String()), Pairs: all.People()}
	for given, want := range cases.Sorted(map[gateway.JID]gateway.Party{
		"2@lid":                        {JID: "5511988880002@s.whatsapp.net", LID: "2@lid"},
		"5511988880002@s.whatsapp.net": {JID: "5511988880002@s.whatsapp.net", LID: "2@lid"},
		"3@lid":                        {LID: "3@lid"},
		"5511988880003@s.whatsapp.net": {JID: "5511988880003@s.whatsapp.net"},
	}) {
		found, err := known.Addresses(t.Context(), []gateway.JID{"9@lid", given})
		check(t, err)
		if len(found) != 2 || found[0] != (gateway.Party{LID: "9@lid"}) || found[1] != want {
			t.Errorf("the addresses of %s are %v, want %v", given, found, want)
		}
	}
}
