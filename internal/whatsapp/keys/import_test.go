package keys

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.mau.fi/libsignal/keys/chain"
	"go.mau.fi/libsignal/keys/message"
	"go.mau.fi/libsignal/state/record"
	"go.mau.fi/whatsmeow/proto/waAdv"
	wastore "go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/store/sqlstore"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/sqlite"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func person(user string) types.JID   { return types.NewJID(user, types.DefaultUserServer) }
func somebody(user string) types.JID { return types.NewJID(user, types.HiddenUserServer) }

// foreignDevice makes a linked device in whatsmeow's own tables.
func foreignDevice(t *testing.T) (*wastore.Device, *sql.DB) {
	t.Helper()
	db, err := sqlite.OpenPool(t.Context(), filepath.Join(t.TempDir(), "sessions.db"), 1)
	check(t, err)
	t.Cleanup(func() { _ = db.Close() })
	container := sqlstore.NewWithDB(db, "sqlite3", nil)
	check(t, container.Upgrade(t.Context()))
	device := container.NewDevice()
	own, err := types.ParseJID(ownDevice)
	check(t, err)
	device.ID, device.LID, device.PushName = &own, somebody("123"), "Loja"
	device.Account = &waAdv.ADVSignedDeviceIdentity{
		Details: []byte{1}, AccountSignature: make([]byte, 64), AccountSignatureKey: make([]byte, 32), DeviceSignature: make([]byte, 64),
	}
	check(t, device.Save(t.Context()))
	return device, db
}

// sessionNumber is the record of a Signal session as libsignal writes it.
func sessionNumber(t *testing.T, n byte) []byte {
	t.Helper()
	public := func(of byte) []byte { return append([]byte{5, of, n}, make([]byte, 30)...) }
	encoded, err := json.Marshal(record.SessionStructure{
		SessionState: &record.StateStructure{
			LocalIdentityPublic: public(1), RemoteIdentityPublic: public(2), SenderBaseKey: public(3), RootKey: []byte{n}, SessionVersion: 3,
			SenderChain:    &record.ChainStructure{ChainKey: &chain.KeyStructure{Key: []byte{n}, Index: 1}, SenderRatchetKeyPublic: public(4), MessageKeys: []*message.KeysStructure{}},
			ReceiverChains: []*record.ChainStructure{},
		},
		PreviousStates: []*record.StateStructure{},
	})
	check(t, err)
	return encoded
}

// use does everything that whatsmeow does with a device's stores.
func use(t *testing.T, device *wastore.Device) {
	t.Helper()
	ctx := t.Context()
	keys, ok := device.Sessions.(wastore.AllSessionSpecificStores)
	if !ok {
		t.Fatalf("the stores are a %T", device.Sessions)
	}
	check(t, device.LIDs.PutLIDMapping(ctx, somebody("900"), person("5511000")))
	check(t, device.LIDs.PutManyLIDMappings(ctx, []wastore.LIDMapping{
		{LID: somebody("901"), PN: person("5511001")}, {LID: person("1"), PN: person("2")}, {LID: somebody("902"), PN: person("5511000")},
	}))

	check(t, keys.PutIdentity(ctx, "1:0", [32]byte{1}))
	check(t, keys.PutIdentity(ctx, "1:1", [32]byte{2}))
	check(t, keys.PutIdentity(ctx, "1:1", [32]byte{3}))
	check(t, keys.PutIdentity(ctx, "2:0", [32]byte{4}))
	check(t, keys.DeleteAllIdentities(ctx, "2"))

	check(t, keys.PutSession(ctx, "1:0", sessionNumber(t, 1)))
	check(t, keys.PutManySessions(ctx, map[string][]byte{
		"1:1": sessionNumber(t, 2), "1:10": sessionNumber(t, 3), "11:0": sessionNumber(t, 4),
		"2:0": sessionNumber(t, 5), "3:0": sessionNumber(t, 6), "5511000:0": sessionNumber(t, 7),
	}))
	check(t, keys.DeleteSession(ctx, "1:1"))
	check(t, keys.DeleteAllSessions(ctx, "2"))
	check(t, keys.PutSenderKey(ctx, "team@g.us", "5511000:0", []byte{1}))
	check(t, keys.PutSenderKey(ctx, "team@g.us", "1:0", []byte{2}))
	check(t, keys.MigratePNToLID(ctx, person("5511000"), types.NewJID("902", types.HiddenUserServer)))
	check(t, keys.MigratePNToLID(ctx, person("5511000"), types.NewJID("902", types.HiddenUserServer)))

	fresh, err := keys.GetOrGenPreKeys(ctx, 5)
	check(t, err)
	check(t, keys.MarkPreKeysAsUploaded(ctx, fresh[2].KeyID))
	check(t, keys.RemovePreKey(ctx, fresh[1].KeyID))
	_, err = keys.GenOnePreKey(ctx)
	check(t, err)
	_, err = keys.GetOrGenPreKeys(ctx, 4)
	check(t, err)

	for n, at := range []int64{20, 10, 30} {
		check(t, keys.PutAppStateSyncKey(ctx, []byte{byte(n)}, wastore.AppStateSyncKey{Data: []byte{1}, Fingerprint: []byte{2}, Timestamp: at}))
	}
	check(t, keys.PutAppStateSyncKey(ctx, []byte{0}, wastore.AppStateSyncKey{Data: []byte{9}, Fingerprint: []byte{2}, Timestamp: 5}))
	check(t, keys.PutAppStateVersion(ctx, "regular", 7, [128]byte{7}))
	check(t, keys.PutAppStateVersion(ctx, "critical", 8, [128]byte{8}))
	mac := func(n byte) []byte { return append(make([]byte, 31), n) }
	check(t, keys.PutAppStateMutationMACs(ctx, "regular", 7, []wastore.AppStateMutationMAC{{IndexMAC: mac(1), ValueMAC: mac(2)}, {IndexMAC: mac(3), ValueMAC: mac(4)}}))
	check(t, keys.PutAppStateMutationMACs(ctx, "regular", 6, []wastore.AppStateMutationMAC{{IndexMAC: mac(1), ValueMAC: mac(5)}}))
	check(t, keys.PutAppStateMutationMACs(ctx, "critical", 8, []wastore.AppStateMutationMAC{{IndexMAC: mac(1), ValueMAC: mac(6)}}))
	check(t, keys.DeleteAppStateMutationMACs(ctx, "regular", [][]byte{mac(3)}))
	check(t, keys.DeleteAppStateVersion(ctx, "critical"))

	for _, name := range []string{"Ana", "Ana", "Ana Maria"} {
		changed, previous, err := keys.PutPushName(ctx, person("1"), name)
		check(t, err)
		if changed != (name != previous && (name == "Ana" && previous == "" || name == "Ana Maria")) && changed {
			t.Errorf("the name became %s, before %s", name, previous)
		}
	}
	_, _, err = keys.PutBusinessName(ctx, person("1"), "Padaria")
	check(t, err)
	check(t, keys.PutContactName(ctx, person("2"), "Bia", "Bia Souza"))
	check(t, keys.PutAllContactNames(ctx, []wastore.ContactEntry{{JID: person("1"), FirstName: "A", FullName: "A M"}, {JID: person("3"), FirstName: "C"}}))
	check(t, keys.PutManyRedactedPhones(ctx, []wastore.RedactedPhoneEntry{{JID: somebody("901"), RedactedPhone: "+55∙∙∙"}}))

	check(t, keys.PutMutedUntil(ctx, person("1"), wastore.MutedForever))
	check(t, keys.PutMutedUntil(ctx, person("2"), time.Unix(1_800_000_000, 0)))
	check(t, keys.PutPinned(ctx, person("2"), true))
	check(t, keys.PutArchived(ctx, person("3"), true))

	check(t, keys.PutMessageSecret(ctx, person("5511001"), person("5511001"), "M1", []byte{1}))
	check(t, keys.PutMessageSecret(ctx, person("5511001"), person("5511001"), "M1", []byte{2}))
	check(t, keys.PutMessageSecrets(ctx, []wastore.MessageSecretInsert{{Chat: somebody("901"), Sender: somebody("123"), ID: "M2", Secret: []byte{3}}}))

	check(t, keys.PutPrivacyTokens(ctx,
		wastore.PrivacyToken{User: person("1"), Token: []byte{1}, Timestamp: time.Unix(100, 0), SenderTimestamp: time.Unix(50, 0)},
		wastore.PrivacyToken{User: somebody("901"), Token: []byte{2}, Timestamp: time.Unix(200, 0)},
		wastore.PrivacyToken{User: person("3"), Token: []byte{3}, Timestamp: time.Unix(10, 0)}))
	check(t, keys.PutPrivacyTokens(ctx, wastore.PrivacyToken{User: person("1"), Token: []byte{4}, Timestamp: time.Unix(99, 0)}))
	check(t, keys.PutPrivacyTokens(ctx, wastore.PrivacyToken{User: person("1"), Token: []byte{5}, Timestamp: time.Unix(101, 0)}))
	deleted, err := keys.DeleteExpiredPrivacyTokens(ctx, time.Unix(50, 0))
	check(t, err)
	if deleted != 1 {
		t.Errorf("%d old tokens were deleted, want 1", deleted)
	}
	check(t, keys.PutNCTSalt(ctx, []byte{1, 2}))
}

// answers are what whatsmeow gets to know from a device's stores.
func answers(t *testing.T, device *wastore.Device) []string {
	t.Helper()
	ctx := t.Context()
	keys, ok := device.Sessions.(wastore.AllSessionSpecificStores)
	if !ok {
		t.Fatalf("the stores are a %T", device.Sessions)
	}
	var all []string
	note := func(what string, values ...any) { all = append(all, fmt.Sprint(what, ": ", fmt.Sprint(values...))) }
	for _, jid := range []types.JID{person("5511000"), person("5511001"), person("5511009"), somebody("900"), somebody("901"), somebody("902")} {
		other, err := device.GetAltJID(ctx, jid)
		note("other address of "+jid.String(), other, err)
	}
	many, err := device.LIDs.GetManyLIDsForPNs(ctx, []types.JID{person("5511000"), person("5511009"), somebody("901")})
	note("LIDs", many, err)
	for _, address := range []string{"1:0", "1:1", "2:0", "9:0"} {
		trusted, err := keys.IsTrustedIdentity(ctx, address, [32]byte{3})
		note("trusted "+address, trusted, err)
	}
	sessions, err := keys.GetManySessions(ctx, []string{"1:0", "1:1", "1:10", "11:0", "2:0", "3:0", "5511000:0", "902:0"})
	for _, address := range slices.Sorted(maps.Keys(sessions)) {
		has, failure := keys.HasSession(ctx, address)
		note("session "+address, sessions[address], has, err, failure)
	}
	for _, user := range []string{"5511000:0", "902:0", "1:0"} {
		key, err := keys.GetSenderKey(ctx, "team@g.us", user)
		note("sender key of "+user, key, err)
	}
	given, err := keys.UploadedPreKeyCount(ctx)
	note("prekeys given", given, err)
	for id := range uint32(10) {
		key, err := keys.GetPreKey(ctx, id)
		note("prekey", id, key != nil, key != nil && key.KeyID == id, err)
	}
	appStateAnswers(ctx, keys, note)
	for _, jid := range []types.JID{person("1"), person("2"), person("3"), person("4"), somebody("901")} {
		contact, err := keys.GetContact(ctx, jid)
		note("contact "+jid.String(), contact, err)
		settings, err := keys.GetChatSettings(ctx, jid)
		note("settings "+jid.String(), settings, err)
		token, err := keys.GetPrivacyToken(ctx, jid)
		if token != nil {
			note("token "+jid.String(), *token, err)
		}
	}
	token, err := keys.GetPrivacyToken(ctx, person("5511001"))
	note("token under the other address", token != nil && token.Token[0] == 2, err)
	contacts, err := keys.GetAllContacts(ctx)
	note("contacts", contacts, err)
	for _, chat := range []types.JID{person("5511001"), somebody("901"), person("5511000")} {
		for _, sender := range []types.JID{person("5511001"), somebody("901"), somebody("123")} {
			for _, id := range []string{"M1", "M2", "M3"} {
				secret, from, err := keys.GetMessageSecret(ctx, chat, sender, id)
				note("secret "+chat.String()+sender.String()+id, secret, from, err)
			}
		}
	}
	salt, err := keys.GetNCTSalt(ctx)
	note("salt", salt, err)
	return all
}

func appStateAnswers(ctx context.Context, keys wastore.AllSessionSpecificStores, note func(string, ...any)) {
	latest, err := keys.GetLatestAppStateSyncKeyID(ctx)
	note("latest key", latest, err)
	all, err := keys.GetAllAppStateSyncKeys(ctx)
	for _, key := range all {
		note("key", *key, err)
	}
	for n := range byte(4) {
		key, err := keys.GetAppStateSyncKey(ctx, []byte{n})
		note("key", n, key != nil && key.Data[0] == 1, err)
	}
	for _, name := range []string{"regular", "critical", "none"} {
		version, hash, err := keys.GetAppStateVersion(ctx, name)
		note(name, version, hash[0], err)
		for n := range byte(4) {
			mac, err := keys.GetAppStateMutationMAC(ctx, name, append(make([]byte, 31), n))
			note("mac of "+name, n, mac, err)
		}
	}
}

func compare(t *testing.T, got, want []string) {
	t.Helper()
	at := func(list []string, n int) string {
		if n < len(list) {
			return list[n]
		}
		return "nothing"
	}
	for n := range max(len(got), len(want)) {
		if at(got, n) != at(want, n) {
			t.Errorf("got  %s\nwant %s", at(got, n), at(want, n))
		}
	}
}

// whatsmeow gets the same answers from these keys as from its own tables: at once, after a
// restart, and after its tables were imported.
func TestAnswersAreWhatsmeows(t *testing.T) {
	t.Parallel()
	foreign, source := foreignDevice(t)
	use(t, foreign)
	want := answers(t, foreign)

	kept := openStore(t)
	keys := newKeys(t, kept)
	linkDevice(t, keys)
	device, err := keys.Load(t.Context(), instanceID, ownDevice)
	check(t, err)
	device.EventBuffer.(*deviceKeys).firstPreKey = 1 // as whatsmeow begins
	use(t, device)
	compare(t, answers(t, device), want)
	check(t, keys.Release(t.Context(), device))
	device, err = newKeys(t, kept).Load(t.Context(), instanceID, ownDevice)
	check(t, err)
	compare(t, answers(t, device), want)

	to := openStore(t)
	for n := range 2 { // the second time everything is there
		copied, err := Import(t.Context(), source, "sqlite3", to)
		check(t, err)
		if copied != 1-n {
			t.Errorf("import %d copied %d devices", n+1, copied)
		}
	}
	device, err = newKeys(t, to).Load(t.Context(), instanceID, ownDevice)
	check(t, err)
	compare(t, answers(t, device), want)
	sameDevice(t, device, foreign)

	exported := exportTo(t, to)
	compare(t, answers(t, exported), want)
	sameDevice(t, exported, foreign)
	if err := Export(t.Context(), to, "5511111:1@s.whatsapp.net", source); !errors.Is(err, ErrNoDevice) {
		t.Errorf("the export of another device is answered %v", err)
	}
}

// exportTo exports the device into a file and opens it with whatsmeow.
func exportTo(t *testing.T, from Store) *wastore.Device {
	t.Helper()
	db, err := sqlite.OpenPool(t.Context(), filepath.Join(t.TempDir(), "exported.db"), 1)
	check(t, err)
	t.Cleanup(func() { _ = db.Close() })
	check(t, Export(t.Context(), from, ownDevice, db))
	all, err := sqlstore.NewWithDB(db, "sqlite3", nil).GetAllDevices(t.Context())
	check(t, err)
	if len(all) != 1 {
		t.Fatalf("%d devices were exported", len(all))
	}
	return all[0]
}

// sameDevice fails the test unless two devices have the same keys of their own.
func sameDevice(t *testing.T, device, foreign *wastore.Device) {
	t.Helper()
	if *device.NoiseKey.Priv != *foreign.NoiseKey.Priv || device.PushName != "Loja" || *device.SignedPreKey.Signature != *foreign.SignedPreKey.Signature ||
		device.RegistrationID != foreign.RegistrationID || device.LID != foreign.LID || !bytes.Equal(device.AdvSecretKey, foreign.AdvSecretKey) || !proto.Equal(device.Account, foreign.Account) {
		t.Error("the device itself has other keys")
	}
}

// Keys that have moved on since are not overwritten by those of an earlier version.
func TestImportLeavesNewerKeys(t *testing.T) {
	t.Parallel()
	foreign, source := foreignDevice(t)
	use(t, foreign)
	k, kept := newDevice(t)
	check(t, k.PutManySessions(t.Context(), map[string][]byte{"1:0": []byte("newer")}))
	if copied, err := Import(t.Context(), source, "sqlite3", kept); err != nil || copied != 0 {
		t.Errorf("%d devices were copied (%v)", copied, err)
	}
	wantSession(t, crash(t, kept), "1:0", "newer")
}

// Each pair is reported once, when the keys learn it.
func TestNewPairsAreReported(t *testing.T) {
	t.Parallel()
	keys := newKeys(t, openStore(t))
	device := linkDevice(t, keys)
	reported := map[string]int{}
	Observe(device, Observer{PairsLearnt: func(pairs []wastore.LIDMapping) {
		for _, pair := range pairs {
			reported[pair.LID.User]++
		}
	}})
	var many []wastore.LIDMapping
	for n := range 1001 {
		many = append(many, wastore.LIDMapping{LID: somebody(fmt.Sprintf("9%05d", n)), PN: person(fmt.Sprintf("55%05d", n))})
	}
	own := many[0]
	own.LID.Device, own.PN.Device = 3, 3
	for range 2 {
		check(t, device.LIDs.PutLIDMapping(t.Context(), own.LID, own.PN))
		check(t, device.LIDs.PutManyLIDMappings(t.Context(), many))
	}
	if len(reported) != len(many) {
		t.Errorf("%d pairs were reported, want %d", len(reported), len(many))
	}
	for lid, times := range cases.Sorted(reported) {
		if times != 1 {
			t.Errorf("%s was reported %d times", lid, times)
		}
	}
}
