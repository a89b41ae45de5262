package appstate

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	wmstate "go.mau.fi/whatsmeow/appstate"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waServerSync"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/testkit/cases"
)

func setName(tb testing.TB, state *State, key Key, name string) {
	tb.Helper()
	collection, err := state.SetPushName(key, name, now())
	if err != nil {
		tb.Fatal(err)
	}
	if collection != "critical_block" {
		tb.Errorf("the name is in %q", collection)
	}
}

func TestPushName(t *testing.T) {
	t.Parallel()
	key, state := newKey(t), &State{}
	early := newClient(t, key)
	setName(t, state, key, "Ana")
	mutations, changed, _ := early.sync(state, wmstate.WAPatchCriticalBlock, nil)
	if got := names(mutations); !slices.Equal(got, []string{"Ana"}) || changed != nil {
		t.Errorf("the first name is read as %q, changed %q", got, changed)
	}

	state = restart(t, state)
	setName(t, state, key, "Ana Maria")
	setName(t, state, key, "Ana M.")
	mutations, _, _ = early.sync(state, wmstate.WAPatchCriticalBlock, nil)
	if got := names(mutations); !slices.Equal(got, []string{"Ana Maria", "Ana M."}) {
		t.Errorf("the later names are read as %q", got)
	}
	mutations, _, answer := early.sync(state, wmstate.WAPatchCriticalBlock, nil)
	if len(mutations) != 0 || answer.Attrs["type"] != "result" || answer.Attrs["version"] != "3" {
		t.Errorf("nothing new is answered with %s", &answer)
	}

	late := newClient(t, key)
	mutations, _, _ = late.sync(state, wmstate.WAPatchCriticalBlock, nil)
	if got := names(mutations); len(got) != 3 || got[2] != "Ana M." {
		t.Errorf("a device linked later reads %q", got)
	}
	if state.Version("critical_block") != 3 || state.Version("regular") != 0 {
		t.Error("the versions are wrong")
	}
}

func TestClientsPatch(t *testing.T) {
	t.Parallel()
	key, state := newKey(t), &State{}
	setName(t, state, key, "Ana")
	first, second := newClient(t, key), newClient(t, key)
	chat := types.NewJID("5511912345678", types.DefaultUserServer)

	// Both clients have nothing. The first mutes and unmutes a chat.
	for i, mute := range []bool{true, false} {
		patch := first.encode(key, wmstate.BuildMuteAbs(chat, mute, nil))
		mutations, changed, answer := first.sync(state, wmstate.WAPatchRegularHigh, patch)
		if !slices.Equal(changed, []string{"regular_high"}) || answer.Attrs["type"] != "result" || len(mutations) != 0 {
			t.Fatalf("patch %d: changed %q, answer %s", i, changed, &answer)
		}
		mutations, _, _ = first.sync(state, wmstate.WAPatchRegularHigh, nil)
		if len(mutations) != 1 || mutations[0].Action.GetMuteAction().GetMuted() != mute {
			t.Fatalf("patch %d comes back as %v", i, mutations)
		}
		state = restart(t, state)
	}

	// The second client does not know that and pins a chat. It gets a conflict with
	// the missing patches, and then it may.
	info := wmstate.BuildMuteAbs(chat, true, nil)
	mutations, changed, answer := second.sync(state, wmstate.WAPatchRegularHigh, second.encode(key, info))
	if child := answer.GetChildByTag("error"); changed != nil || answer.Attrs["type"] != "error" ||
		child.Attrs["code"] != "409" || len(mutations) != 2 {
		t.Fatalf("a conflict is answered with %s", &answer)
	}
	if _, changed, answer = second.sync(state, wmstate.WAPatchRegularHigh, second.encode(key, info)); len(changed) != 1 {
		t.Fatalf("the second attempt is answered with %s", &answer)
	}
	if mutations, _, _ = first.sync(state, wmstate.WAPatchRegularHigh, nil); len(mutations) != 1 {
		t.Errorf("the first device reads %v", mutations)
	}

	// The phone's own patches continue those of the clients.
	setName(t, state, key, "Ana Maria")
	if mutations, _, _ = second.sync(state, wmstate.WAPatchCriticalBlock, nil); len(names(mutations)) != 2 {
		t.Errorf("the names are read as %q", names(mutations))
	}
}

// A client may set a name too, and the phone replaces it.
func TestPhoneReplacesAClientsSetting(t *testing.T) {
	t.Parallel()
	key, state := newKey(t), &State{}
	c := newClient(t, key)
	if _, changed, answer := c.sync(state, wmstate.WAPatchCriticalBlock, c.encode(key, wmstate.BuildSettingPushName("by the client"))); len(changed) != 1 {
		t.Fatalf("refused: %s", &answer)
	}
	setName(t, state, key, "by the phone")
	mutations, _, _ := c.sync(state, wmstate.WAPatchCriticalBlock, nil)
	if got := names(mutations); !slices.Equal(got, []string{"by the client", "by the phone"}) {
		t.Errorf("the names are read as %q", got)
	}
}

// The phone reads what a client has patched, and what the phone appends clients read.
func TestMutationsAreRead(t *testing.T) {
	t.Parallel()
	key, state := newKey(t), &State{}
	c := newClient(t, key)
	chat := types.NewJID("5511912345678", types.DefaultUserServer)
	c.sync(state, wmstate.WAPatchRegularLow, c.encode(key, wmstate.BuildArchive(chat, true, now(), nil)))
	if len(c.accepted) != 1 || c.accepted[0].Unreadable != nil || len(c.accepted[0].Mutations) != 2 {
		t.Fatalf("the phone reads %+v", c.accepted)
	}
	archive, pin := c.accepted[0].Mutations[0], c.accepted[0].Mutations[1]
	if !slices.Equal(archive.Index, []string{"archive", chat.String()}) || !archive.Value.GetArchiveChatAction().GetArchived() ||
		!slices.Equal(pin.Index, []string{"pin_v1", chat.String()}) || pin.Value.GetPinAction().GetPinned() {
		t.Errorf("the phone reads %+v and %+v", archive, pin)
	}
	c.sync(state, wmstate.WAPatchRegularLow, nil)
	change, err := state.Append(key, wmstate.BuildPin(chat, true), now())
	if err != nil || change.Collection != "regular_low" || len(change.Mutations) != 1 {
		t.Fatalf("the phone appends %+v, %v", change, err)
	}
	mutations, _, _ := c.sync(state, wmstate.WAPatchRegularLow, nil)
	if len(mutations) != 1 || !mutations[0].Action.GetPinAction().GetPinned() {
		t.Errorf("the client reads %+v", mutations)
	}
}

// The platform can't check what it has no key for: the patch is accepted, and the phone
// finds nothing in it.
func TestUnreadablePatch(t *testing.T) {
	t.Parallel()
	key, state := newKey(t), &State{}
	c := newClient(t, newKey(t)) // a client with a key of its own
	patch := c.encode(c.key, wmstate.BuildPin(types.NewJID("5511912345678", types.DefaultUserServer), true))
	_, changes, err := state.Sync(key, request("regular_low", "0", patch))
	if err != nil || len(changes) != 1 || changes[0].Unreadable == nil || changes[0].Mutations != nil {
		t.Errorf("accepted as %+v, %v", changes, err)
	}
}

func TestRemoval(t *testing.T) {
	t.Parallel()
	key, state := newKey(t), &State{}
	setName(t, state, key, "Ana")
	c := state.collections[wmstate.WAPatchCriticalBlock]
	var patch waServerSync.SyncdPatch
	if err := proto.Unmarshal(c.Patches[0], &patch); err != nil {
		t.Fatal(err)
	}
	patch.Mutations[0].Operation = waServerSync.SyncdMutation_REMOVE.Enum()
	raw, err := proto.Marshal(&patch)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.append(raw); err != nil {
		t.Fatal(err)
	}
	if c.Hash != (hash{}) || len(c.MACs) != 0 {
		t.Error("something is left of a setting that was removed")
	}
}

func TestManyPatchesComeInParts(t *testing.T) {
	t.Parallel()
	key, state := newKey(t), &State{}
	const count = 2*maxReply + 10
	for i := range count {
		setName(t, state, key, fmt.Sprint("name ", i))
	}
	c := newClient(t, key)
	mutations, _, answer := c.sync(state, wmstate.WAPatchCriticalBlock, nil)
	if got := names(mutations); len(got) != count || got[count-1] != fmt.Sprint("name ", count-1) {
		t.Errorf("%d names are read", len(got))
	}
	if patches := answer.GetChildByTag("patches"); len(patches.GetChildren()) != maxReply || answer.Attrs["has_more_patches"] != "true" {
		t.Errorf("the first reply has %d patches", len(patches.GetChildren()))
	}
}

func TestLargePatchesComeInParts(t *testing.T) {
	t.Parallel()
	key, state := newKey(t), &State{}
	const count = 40
	for range count {
		setName(t, state, key, string(bytes.Repeat([]byte("x"), maxPatch-1000)))
	}
	mutations, _, _ := newClient(t, key).sync(state, wmstate.WAPatchCriticalBlock, nil)
	if got := len(names(mutations)); got != count {
		t.Errorf("%d names are read", got)
	}
}

func TestFullCollection(t *testing.T) {
	t.Parallel()
	key, state := newKey(t), &State{}
	setName(t, state, key, "Ana")
	c := state.collections[wmstate.WAPatchCriticalBlock]
	patch := c.Patches[0]
	for len(c.Patches) < maxPatches {
		c.Patches = append(c.Patches, patch)
	}
	if _, err := state.SetPushName(key, "Ana Maria", now()); !errors.Is(err, ErrFull) {
		t.Errorf("setting the name: %v", err)
	}
	reply, changed, err := state.Sync(key, request("critical_block", fmt.Sprint(maxPatches), patch))
	if err != nil || changed != nil {
		t.Fatalf("changed %v, %v", changed, err)
	}
	if child, _ := reply.GetOptionalChildByTag("collection", "error"); child.Attrs["code"] != "419" {
		t.Errorf("answered with %s", &reply)
	}
}

// request returns a request for one collection. It leaves out an empty version.
func request(name, version string, patch []byte) waBinary.Node {
	collection := waBinary.Node{Tag: "collection", Attrs: waBinary.Attrs{"name": name, "return_snapshot": "false"}}
	if version != "" {
		collection.Attrs["version"] = version
	}
	if patch != nil {
		collection.Content = []waBinary.Node{{Tag: "patch", Content: patch}}
	}
	return waBinary.Node{Tag: "sync", Content: []waBinary.Node{collection}}
}

func TestAllFiveAtOnce(t *testing.T) {
	t.Parallel()
	key, state := newKey(t), &State{}
	setName(t, state, key, "Ana")
	all := waBinary.Node{Tag: "sync"}
	for _, name := range wmstate.AllPatchNames {
		one := request(string(name), "0", nil)
		all.Content = append(all.GetChildren(), one.GetChildren()...)
	}
	reply, changed, err := state.Sync(key, all)
	if err != nil || changed != nil {
		t.Fatalf("changed %v, %v", changed, err)
	}
	answers := reply.GetChildrenByTag("collection")
	if len(answers) != 5 {
		t.Fatalf("%d answers", len(answers))
	}
	for i, answer := range answers {
		want := "0"
		if wmstate.AllPatchNames[i] == wmstate.WAPatchCriticalBlock {
			want = "1"
		}
		if answer.Attrs["name"] != string(wmstate.AllPatchNames[i]) || answer.Attrs["version"] != want || answer.Attrs["type"] != "result" {
			t.Errorf("answer %d is %s", i, &answer)
		}
	}
}

func TestSyncRefuses(t *testing.T) {
	t.Parallel()
	key, state := newKey(t), &State{}
	setName(t, state, key, "Ana")
	good := state.collections[wmstate.WAPatchCriticalBlock].Patches[0]
	change := func(change func(*waServerSync.SyncdPatch)) []byte {
		var patch waServerSync.SyncdPatch
		if err := proto.Unmarshal(good, &patch); err != nil {
			t.Fatal(err)
		}
		change(&patch)
		raw, err := proto.Marshal(&patch)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	twice := request("regular", "0", nil)
	twice.Content = append(twice.GetChildren(), twice.GetChildren()...)
	later, bad := request("regular", "0", good), request("critical_block", "x", nil)
	later.Content = append(later.GetChildren(), bad.GetChildren()...)
	for name, node := range cases.Sorted(map[string]waBinary.Node{
		"another tag":           {Tag: "iq"},
		"no collection":         {Tag: "sync"},
		"an unknown one":        request("irregular", "0", nil),
		"one twice":             twice,
		"no number":             request("regular", "-1", nil),
		"one good, one bad":     later,
		"an empty patch":        request("regular", "0", []byte{}),
		"no protobuf":           request("regular", "0", []byte{0xff}),
		"a huge patch":          request("regular", "0", make([]byte, maxPatch+1)),
		"no mutations":          request("regular", "0", change(func(p *waServerSync.SyncdPatch) { p.Mutations = nil })),
		"external mutations":    request("regular", "0", change(func(p *waServerSync.SyncdPatch) { p.ExternalMutations = &waServerSync.ExternalBlobReference{} })),
		"no key":                request("regular", "0", change(func(p *waServerSync.SyncdPatch) { p.KeyID = nil })),
		"no code":               request("regular", "0", change(func(p *waServerSync.SyncdPatch) { p.PatchMAC = nil })),
		"a short value":         request("regular", "0", change(func(p *waServerSync.SyncdPatch) { p.Mutations[0].Record.Value.Blob = make([]byte, 31) })),
		"a short index":         request("regular", "0", change(func(p *waServerSync.SyncdPatch) { p.Mutations[0].Record.Index.Blob = make([]byte, 31) })),
		"a mutation of nothing": request("regular", "0", change(func(p *waServerSync.SyncdPatch) { p.Mutations[0].Record = nil })),
	}) {
		if _, changed, err := state.Sync(key, node); !errors.Is(err, ErrRequest) || changed != nil {
			t.Errorf("%s: changed %v, %v", name, changed, err)
		}
	}
	if state.Version("regular") != 0 {
		t.Error("a refused request has changed something")
	}
}

func TestVersionFromTheFuture(t *testing.T) {
	t.Parallel()
	key, state := newKey(t), &State{}
	setName(t, state, key, "Ana")
	reply, _, err := state.Sync(key, request("critical_block", "18446744073709551615", nil))
	if err != nil {
		t.Fatal(err)
	}
	if answer := reply.GetChildByTag("collection"); answer.Attrs["version"] != "1" || answer.Content != nil {
		t.Errorf("answered with %s", &answer)
	}
}

func TestStateRefusesOtherBytes(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"", "[]", `{"regular":null}`, `{"regular":{"hash":""}}`, `{"regular":{"patches":[],"macs":{"00":""}}}`, `{"regular":{"macs":null}}`,
	} {
		if err := new(State).UnmarshalBinary([]byte(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
	if again := restart(t, &State{}); again.Version("regular") != 0 {
		t.Error("an empty state has a version")
	}
}

func TestKey(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	raw, err := key.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var again Key
	if err := again.UnmarshalBinary(raw); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again.ID, key.ID) || !bytes.Equal(again.Data, key.Data) || again.RawID != key.RawID || !again.Created.Equal(key.Created) {
		t.Errorf("the key is read as %+v", again)
	}
	for _, bad := range [][]byte{nil, raw[1:], append(slices.Clone(raw), 0)} {
		if err := again.UnmarshalBinary(bad); !errors.Is(err, errKey) {
			t.Errorf("%d bytes: %v", len(bad), err)
		}
	}
	if _, err := (Key{}).MarshalBinary(); !errors.Is(err, errKey) {
		t.Errorf("no key at all: %v", err)
	}
	if _, err := NewKey(bytes.NewReader(nil), time.Time{}); err == nil {
		t.Error("a key from no randomness")
	}
}

func FuzzSync(f *testing.F) {
	key, state := newKey(f), &State{}
	setName(f, state, key, "Ana")
	f.Add("critical_block", "1", state.collections[wmstate.WAPatchCriticalBlock].Patches[0])
	f.Add("regular", "0", []byte{})
	f.Add("regular", "", []byte{0x12, 0x00})
	f.Fuzz(func(t *testing.T, name, version string, patch []byte) {
		state := restart(t, state)
		_, changed, err := state.Sync(key, request(name, version, patch))
		if err != nil && (!errors.Is(err, ErrRequest) || changed != nil) {
			t.Fatalf("changed %v, %v", changed, err)
		}
		// Whatever was accepted, the phone can continue and the state can be kept.
		setName(t, state, key, "Ana Maria")
		restart(t, state)
	})
}
