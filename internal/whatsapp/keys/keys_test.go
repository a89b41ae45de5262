package keys

import (
	"context"
	"errors"
	"log/slog"
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
)

const (
	instanceID = "0199a0c4-7f6e-7000-8000-000000000001"
	ownDevice  = "5511999990100:2@s.whatsapp.net"
)

// openStore opens a store that is closed when the test ends.
func openStore(t *testing.T) *store.Devices {
	t.Helper()
	kept, err := store.Open(t.Context(), store.Config{
		Path: database.File(t), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := kept.Close(); err != nil {
			t.Error(err)
		}
	})
	return kept.Devices
}

func newKeys(t *testing.T, kept Store) *Keys {
	t.Helper()
	keys, err := New(Config{Store: kept, Log: waLog.Noop, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// linkDevice makes keys and saves them, as a pairing does.
func linkDevice(t *testing.T, keys *Keys) *wastore.Device {
	t.Helper()
	device, err := keys.Load(t.Context(), instanceID, "")
	if err != nil {
		t.Fatal(err)
	}
	own, err := types.ParseJID(ownDevice)
	if err != nil {
		t.Fatal(err)
	}
	device.ID, device.LID = &own, types.NewJID("123", types.HiddenUserServer)
	device.Account = &waAdv.ADVSignedDeviceIdentity{
		Details: []byte{1}, AccountSignature: make([]byte, 64), AccountSignatureKey: make([]byte, 32), DeviceSignature: make([]byte, 64),
	}
	if err := device.Save(t.Context()); err != nil {
		t.Fatal(err)
	}
	return device
}

// load loads the keys of the linked device, as the next session does.
func load(t *testing.T, keys *Keys) *deviceKeys {
	t.Helper()
	device, err := keys.Load(t.Context(), instanceID, ownDevice)
	if err != nil {
		t.Fatal(err)
	}
	own, ok := device.EventBuffer.(*deviceKeys)
	if !ok {
		t.Fatal("the keys are gone")
	}
	return own
}

// crash loads the keys as a new process does: what is only in memory is lost.
func crash(t *testing.T, kept Store) *deviceKeys {
	t.Helper()
	return load(t, newKeys(t, kept))
}

// newDevice makes the keys of a linked device.
func newDevice(t *testing.T) (*deviceKeys, *store.Devices) {
	t.Helper()
	kept := openStore(t)
	keys := newKeys(t, kept)
	linkDevice(t, keys)
	return load(t, keys), kept
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// decrypt decrypts a message with a content, which moves a session to a state.
func decrypt(t *testing.T, k *deviceKeys, content byte, address, state string) {
	t.Helper()
	check(t, k.DoDecryptionTxn(t.Context(), func(ctx context.Context) error {
		if err := k.PutManySessions(ctx, map[string][]byte{address: []byte(state)}); err != nil {
			return err
		}
		return k.PutBufferedEvent(ctx, [32]byte{content}, []byte{content}, time.Unix(1, 0))
	}))
}

// wantSession checks the state of a session.
func wantSession(t *testing.T, k *deviceKeys, address, want string) {
	t.Helper()
	session, err := k.GetSession(t.Context(), address)
	check(t, err)
	if string(session) != want {
		t.Errorf("the session with %s is %q, want %q", address, session, want)
	}
}

// wantContent checks whether the content of a message is known.
func wantContent(t *testing.T, k *deviceKeys, content byte, want bool) {
	t.Helper()
	event, err := k.GetBufferedEvent(t.Context(), [32]byte{content})
	check(t, err)
	if got := event != nil && len(event.Plaintext) == 1 && event.Plaintext[0] == content; got != want {
		t.Errorf("the content of message %d is known: %v, want %v", content, got, want)
	}
}

const before = `{"SessionState":{"SenderBaseKey":"AA=="},"PreviousStates":[]}`

// What a message has changed is on the disk together with the message, and not before:
// after a crash in between it is decrypted again.
func TestDecryptionIsHeldBack(t *testing.T) {
	t.Parallel()
	k, kept := newDevice(t)
	check(t, k.PutManySessions(t.Context(), map[string][]byte{"100:0": []byte(before)}))
	decrypt(t, k, 1, "100:0", "after")
	wantSession(t, k, "100:0", "after")
	wantSession(t, crash(t, kept), "100:0", before)

	k = crash(t, kept)
	decrypt(t, k, 1, "100:0", "after")
	changes := gateway.DeviceKeysOf(Keeping(t.Context(), deviceOf(k)))
	if changes == nil {
		t.Fatal("the call that keeps the message gets no keys")
	}
	check(t, kept.WriteDeviceKeys(t.Context(), instanceID, changes)) // as the call does it
	again := crash(t, kept)
	wantSession(t, again, "100:0", "after")
	wantContent(t, again, 1, false)
}

// deviceOf is a device with these keys.
func deviceOf(k *deviceKeys) *wastore.Device { return &wastore.Device{EventBuffer: k} }

// A send writes the sessions that it has moved. Those of messages that are not kept yet may
// be among them, so that the messages can't be decrypted any more: their content is there.
func TestSendWritesWhatIsNotKept(t *testing.T) {
	t.Parallel()
	k, kept := newDevice(t)
	decrypt(t, k, 1, "100:0", "received")
	check(t, k.PutManySessions(t.Context(), map[string][]byte{"200:0": []byte("sent")}))
	again := crash(t, kept)
	wantSession(t, again, "100:0", "received")
	wantContent(t, again, 1, true)

	// The platform delivers it once more, and it is kept: nothing stays behind.
	changes := gateway.DeviceKeysOf(Keeping(t.Context(), deviceOf(again)))
	check(t, kept.WriteDeviceKeys(t.Context(), instanceID, changes))
	check(t, again.ClearBufferedEventPlaintext(t.Context(), [32]byte{1}))
	wantContent(t, again, 1, false)
	wantContent(t, crash(t, kept), 1, false)
}

// A message that was kept at the same time as a send wrote its content leaves nothing behind.
func TestSendMeetsAMessageThatIsBeingKept(t *testing.T) {
	t.Parallel()
	k, kept := newDevice(t)
	decrypt(t, k, 1, "100:0", "received")
	message := &writing{rows: k.rows, kept: k.rows.received[[32]byte{1}]}
	send := &writing{rows: k.rows}
	both := &together{message, send}
	check(t, kept.WriteDeviceKeys(t.Context(), instanceID, both))
	check(t, k.ClearBufferedEventPlaintext(t.Context(), [32]byte{1}))
	check(t, k.rows.flush(t.Context(), nil))
	wantContent(t, crash(t, kept), 1, false)
}

// together are two writes in one transaction.
type together struct{ first, second gateway.DeviceKeyChanges }

func (w *together) Rows() []gateway.DeviceKey { return append(w.first.Rows(), w.second.Rows()...) }

func (w *together) Written() {
	w.first.Written()
	w.second.Written()
}

// A message whose call has not written its keys has them written before it is
// acknowledged.
func TestKeysAreWrittenBeforeTheAcknowledgement(t *testing.T) {
	t.Parallel()
	k, kept := newDevice(t)
	decrypt(t, k, 1, "100:0", "received")
	check(t, k.ClearBufferedEventPlaintext(t.Context(), [32]byte{1}))
	wantSession(t, crash(t, kept), "100:0", "received")
}

// A message that was not kept comes again over the next connection: its content is known.
func TestContentStaysUntilTheMessageIsKept(t *testing.T) {
	t.Parallel()
	k, _ := newDevice(t)
	decrypt(t, k, 1, "100:0", "received")
	wantContent(t, k, 1, true)
	decrypt(t, k, 2, "100:0", "received too")
	if gateway.DeviceKeysOf(Keeping(t.Context(), deviceOf(k))) != nil {
		t.Error("it is not certain which of two messages is being kept")
	}
}

// A decryption that fails has changed nothing.
func TestFailedDecryptionChangesNothing(t *testing.T) {
	t.Parallel()
	k, kept := newDevice(t)
	check(t, k.PutManySessions(t.Context(), map[string][]byte{"100:0": []byte(before)}))
	broken := errors.New("broken")
	err := k.DoDecryptionTxn(t.Context(), func(ctx context.Context) error {
		check(t, k.PutSession(ctx, "100:0", []byte("spoiled")))
		check(t, k.RemovePreKey(ctx, 1))
		session, err := k.GetSession(ctx, "100:0")
		if err != nil || string(session) != "spoiled" {
			t.Errorf("the decryption sees %q (%v)", session, err)
		}
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("answered %v", err)
	}
	wantSession(t, k, "100:0", before)
	wantSession(t, crash(t, kept), "100:0", before)
}

// Old keys are never written over newer ones: a session whose keys another one has loaded
// since writes nothing any more, and says so.
func TestEarlierSessionWritesNothing(t *testing.T) {
	t.Parallel()
	kept := openStore(t)
	keys := newKeys(t, kept)
	linkDevice(t, keys)
	earlier := load(t, keys)
	decrypt(t, earlier, 1, "100:0", "old")
	later := load(t, keys)
	check(t, later.PutManySessions(t.Context(), map[string][]byte{"100:0": []byte("new")}))

	failed := false
	notice := func() { failed = true }
	earlier.rows.failed.Store(&notice)
	for what, err := range cases.Sorted(map[string]error{
		"a send": earlier.PutManySessions(t.Context(), map[string][]byte{"100:0": []byte("old")}),
		"a decryption": earlier.DoDecryptionTxn(t.Context(), func(ctx context.Context) error {
			return earlier.PutManySessions(ctx, map[string][]byte{"100:0": []byte("old")})
		}),
		"a message that was kept": earlier.ClearBufferedEventPlaintext(t.Context(), [32]byte{1}),
	}) {
		if !errors.Is(err, errClosed) || !failed {
			t.Errorf("%s is answered %v, and the session learns of it: %v", what, err, failed)
		}
	}
	check(t, kept.WriteDeviceKeys(t.Context(), instanceID, &writing{rows: earlier.rows}))
	wantSession(t, crash(t, kept), "100:0", "new")
}

// A key that was used for sending must not be used again after a loss of power, nor one
// that was given away.
func TestFailedWriteStopsASend(t *testing.T) {
	t.Parallel()
	kept := openStore(t)
	full := errors.New("the disk is full")
	failing := &failingStore{Store: kept}
	keys := newKeys(t, failing)
	linkDevice(t, keys)
	k := load(t, keys)
	failing.failure = full
	sent := false
	err := Send(t.Context(), func(context.Context) error {
		t.Error("a send whose keys are not written goes on")
		return nil
	}, func(ctx context.Context) error {
		if err := k.PutManySessions(ctx, map[string][]byte{"100:0": {1}}); err != nil {
			return err
		}
		sent = true
		return nil
	})
	if !errors.Is(err, full) || sent {
		t.Errorf("a send whose keys are not written is answered %v", err)
	}
	if _, err := k.GetOrGenPreKeys(t.Context(), 2); !errors.Is(err, full) {
		t.Errorf("keys that are not written may be given away: %v", err)
	}
}

// failingStore fails to write as long as it is told to.
type failingStore struct {
	Store

	failure error
}

func (s *failingStore) WriteDeviceKeys(ctx context.Context, instanceID string, changes gateway.DeviceKeyChanges) error {
	if s.failure != nil {
		return s.failure
	}
	return s.Store.WriteDeviceKeys(ctx, instanceID, changes)
}

// A send goes on once everything that it waits for has happened, after its keys are
// written.
func TestSendWaitsUntilItMayGoOn(t *testing.T) {
	t.Parallel()
	k, kept := newDevice(t)
	refused := errors.New("refused")
	err := Send(t.Context(), func(ctx context.Context) error {
		written, err := kept.FindDeviceKey(ctx, k.rows.device, kindSession, "100:0")
		if err != nil || string(written) != "sent" {
			t.Errorf("the send may go on while its keys are %q (%v)", written, err)
		}
		return refused
	}, func(ctx context.Context) error {
		return k.PutManySessions(ctx, map[string][]byte{"100:0": []byte("sent")})
	})
	if !errors.Is(err, refused) {
		t.Errorf("answered %v", err)
	}
}

// Messages that nobody keeps, because they can't be parsed, take a bounded amount of memory,
// and a bounded number of rows.
func TestMessagesThatNobodyKeepsAreForgotten(t *testing.T) {
	t.Parallel()
	k, kept := newDevice(t)
	const size = 1 << 20
	for n := range 2 * maxReceivedBytes / size {
		check(t, k.DoDecryptionTxn(t.Context(), func(ctx context.Context) error {
			if err := k.PutManySessions(ctx, map[string][]byte{"100:0": {byte(n)}}); err != nil {
				return err
			}
			return k.PutBufferedEvent(ctx, [32]byte{byte(n)}, make([]byte, size), time.Unix(1, 0))
		}))
		check(t, k.rows.flush(t.Context(), nil))
	}
	if len(k.rows.received) > maxReceivedBytes/size {
		t.Errorf("%d messages are remembered", len(k.rows.received))
	}
	if _, ok := k.rows.received[[32]byte{2*maxReceivedBytes/size - 1}]; !ok {
		t.Error("the last one is not")
	}
	check(t, k.rows.flush(t.Context(), nil))
	rows, err := kept.ListDeviceKeys(t.Context(), k.rows.device, kindReceived, "")
	check(t, err)
	if len(rows) > maxReceivedBytes/size {
		t.Errorf("%d of them are in the database", len(rows))
	}
}

// What one node has learnt of somebody, another one knows, although it has looked before.
func TestPairsAreSharedByNodes(t *testing.T) {
	t.Parallel()
	kept := openStore(t)
	one, two := newKeys(t, kept).People(), newKeys(t, kept).People()
	number, lid := types.NewJID("5511988887766", types.DefaultUserServer), types.NewJID("123", types.HiddenUserServer)
	if found, err := one.GetLIDForPN(t.Context(), number); err != nil || !found.IsEmpty() {
		t.Fatalf("at first there is %v (%v)", found, err)
	}
	check(t, two.PutLIDMapping(t.Context(), lid, number))
	if found, err := one.GetLIDForPN(t.Context(), number); err != nil || found != lid {
		t.Errorf("after another node has learnt it, there is %v (%v)", found, err)
	}
}
