package appstate

import (
	"crypto/rand"
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	wmstate "go.mau.fi/whatsmeow/appstate"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waAdv"
	"go.mau.fi/whatsmeow/proto/waServerSync"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/store/sqlstore"
	"go.mau.fi/whatsmeow/types"
	waLog "go.mau.fi/whatsmeow/util/log"
	"google.golang.org/protobuf/proto"
	_ "modernc.org/sqlite" // the driver of the client's store
)

func now() time.Time { return time.Date(2026, 8, 21, 12, 0, 0, 0, time.UTC) }

func newKey(tb testing.TB) Key {
	tb.Helper()
	key, err := NewKey(rand.Reader, now())
	if err != nil {
		tb.Fatal(err)
	}
	return key
}

// client is whatsmeow's side: its store and its processor, which verifies every
// authentication code.
type client struct {
	t         *testing.T
	device    *store.Device
	processor *wmstate.Processor
	key       Key
	accepted  []Change // of this client's patches
}

func newClient(t *testing.T, key Key) *client {
	t.Helper()
	dsn := "file:" + filepath.Join(t.TempDir(), "client.db") + "?_pragma=foreign_keys(1)"
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	container := sqlstore.NewWithDB(db, "sqlite3", waLog.Noop)
	if err := container.Upgrade(t.Context()); err != nil {
		t.Fatal(err)
	}
	device := container.NewDevice()
	device.ID = &types.JID{User: "5511987654321", Device: 3, Server: types.DefaultUserServer}
	device.Account = &waAdv.ADVSignedDeviceIdentity{
		Details: []byte{1}, AccountSignatureKey: make([]byte, 32), AccountSignature: make([]byte, 64), DeviceSignature: make([]byte, 64),
	}
	if err := device.Save(t.Context()); err != nil {
		t.Fatal(err)
	}
	share := KeyShareMessage(key).GetProtocolMessage().GetAppStateSyncKeyShare().GetKeys()[0]
	fingerprint, err := proto.Marshal(share.GetKeyData().GetFingerprint())
	if err != nil {
		t.Fatal(err)
	}
	if len(fingerprint) == 0 {
		t.Error("the key has no fingerprint")
	}
	err = device.AppStateKeys.PutAppStateSyncKey(t.Context(), share.GetKeyID().GetKeyID(), store.AppStateSyncKey{
		Data: share.GetKeyData().GetKeyData(), Fingerprint: fingerprint, Timestamp: share.GetKeyData().GetTimestamp(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return &client{t: t, device: device, processor: wmstate.NewProcessor(device, waLog.Noop), key: key}
}

func (c *client) state(name wmstate.WAPatchName) wmstate.HashState {
	c.t.Helper()
	version, hash, err := c.device.AppState.GetAppStateVersion(c.t.Context(), string(name))
	if err != nil {
		c.t.Fatal(err)
	}
	return wmstate.HashState{Version: version, Hash: hash}
}

// sync requests a collection as whatsmeow does, encoded as on the wire, and returns
// the settings that were set. patch may be nil.
func (c *client) sync(server *State, name wmstate.WAPatchName, patch []byte) (mutations []wmstate.Mutation, changed []string, answer waBinary.Node) {
	c.t.Helper()
	before := c.state(name)
	attrs := waBinary.Attrs{"name": string(name), "return_snapshot": before.Version == 0 && patch == nil}
	if before.Version != 0 || patch != nil {
		attrs["version"] = before.Version
	}
	collection := waBinary.Node{Tag: "collection", Attrs: attrs}
	if patch != nil {
		collection.Content = []waBinary.Node{{Tag: "patch", Content: patch}}
	}
	request := wire(c.t, waBinary.Node{Tag: "sync", Content: []waBinary.Node{collection}})
	reply, changes, err := server.Sync(c.key, request)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, change := range changes {
		changed = append(changed, change.Collection)
		c.accepted = append(c.accepted, change)
	}
	reply = wire(c.t, reply)
	answer = reply.GetChildByTag("collection")
	list, err := wmstate.ParsePatchList(c.t.Context(), &answer, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	mutations, _, err = c.processor.DecodePatches(c.t.Context(), list, before, true)
	if err != nil {
		c.t.Fatal(err)
	}
	if list.HasMorePatches {
		more, _, _ := c.sync(server, name, nil)
		mutations = append(mutations, more...)
	}
	return mutations, changed, answer
}

// encode returns a patch of the client's own.
func (c *client) encode(key Key, info wmstate.PatchInfo) []byte {
	c.t.Helper()
	raw, err := c.processor.EncodePatch(c.t.Context(), key.ID, c.state(info.Type), info)
	if err != nil {
		c.t.Fatal(err)
	}
	return raw
}

// wire encodes and decodes a node, which turns numbers into strings.
func wire(tb testing.TB, node waBinary.Node) waBinary.Node {
	tb.Helper()
	raw, err := waBinary.Marshal(node)
	if err != nil {
		tb.Fatal(err)
	}
	raw, err = waBinary.Unpack(raw)
	if err != nil {
		tb.Fatal(err)
	}
	back, err := waBinary.Unmarshal(raw)
	if err != nil {
		tb.Fatal(err)
	}
	return *back
}

// restart returns the state after it was kept and read again.
func restart(tb testing.TB, state *State) *State {
	tb.Helper()
	raw, err := state.MarshalBinary()
	if err != nil {
		tb.Fatal(err)
	}
	var again State
	if err := again.UnmarshalBinary(raw); err != nil {
		tb.Fatal(err)
	}
	return &again
}

// names returns the push names that were set.
func names(mutations []wmstate.Mutation) []string {
	var names []string
	for _, mutation := range mutations {
		if mutation.Operation == waServerSync.SyncdMutation_SET && mutation.Index[0] == wmstate.IndexSettingPushName {
			names = append(names, mutation.Action.GetPushNameSetting().GetName())
		}
	}
	return names
}
