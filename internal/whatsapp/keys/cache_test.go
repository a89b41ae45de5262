package keys

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/proto/waAdv"
	"go.mau.fi/whatsmeow/store/sqlstore"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sqlite"
)

// newCache makes the cache of a linked device's keys.
func newCache(t *testing.T) *cache {
	t.Helper()
	return newCacheThat(t, func(context.Context) error { return nil })
}

// newCacheThat is newCache with what makes its writes safe from a loss of power.
func newCacheThat(t *testing.T, syncKeys func(context.Context) error) *cache {
	t.Helper()
	db, err := sqlite.OpenPool(t.Context(), filepath.Join(t.TempDir(), "sessions.db"), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	container := sqlstore.NewWithDB(db, "sqlite3", nil)
	if err := container.Upgrade(t.Context()); err != nil {
		t.Fatal(err)
	}
	device := container.NewDevice()
	own := types.JID{User: "5511999990100", Server: types.DefaultUserServer, Device: 2}
	device.ID = &own
	device.Account = &waAdv.ADVSignedDeviceIdentity{
		Details: []byte{1}, AccountSignature: make([]byte, 64), AccountSignatureKey: make([]byte, 32), DeviceSignature: make([]byte, 64),
	}
	if err := container.PutDevice(t.Context(), device); err != nil {
		t.Fatal(err)
	}
	if err := putCache(device, syncKeys); err != nil {
		t.Fatal(err)
	}
	return device.Sessions.(*cache)
}

// A key that was used for sending must not be used again after a loss of power: what
// is written for a send waits for the disk, and what is received does not.
func TestKeysOfASendWaitForTheDisk(t *testing.T) {
	t.Parallel()
	full := errors.New("the disk is full")
	safe := 0
	var failure error
	cache := newCacheThat(t, func(context.Context) error {
		safe++
		return failure
	})
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(cache.PutManySessions(t.Context(), map[string][]byte{"100:0": {1}}))
	if safe != 1 {
		t.Errorf("the keys of a send were made safe %d times", safe)
	}
	check(cache.DoDecryptionTxn(t.Context(), func(ctx context.Context) error {
		return cache.PutManySessions(ctx, map[string][]byte{"100:0": {2}})
	}))
	if safe != 1 {
		t.Error("a message that was received waited for the disk")
	}
	failure = full
	if err := cache.PutManySessions(t.Context(), map[string][]byte{"100:0": {3}}); !errors.Is(err, full) {
		t.Errorf("keys that are not safe may be used: %v", err)
	}
	if _, err := cache.GetOrGenPreKeys(t.Context(), 2); !errors.Is(err, full) {
		t.Errorf("keys that are not safe may be given away: %v", err)
	}
}

// While the keys of a new device are waited for, messages of the instance are
// decrypted as ever; where one of them moves a session that the send has read, the
// send is made anew, for what it has encrypted would be unreadable.
func TestSendLetsGoOfTheRatchet(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		moved string // the session that a message moves meanwhile
		want  error
	}{
		"another session": {"300:0", nil},
		"the same one":    {"100:0", errSessionMoved},
		"the new one":     {"200:0", errSessionMoved},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cache := newCache(t)
			check := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			check(cache.PutManySessions(t.Context(), map[string][]byte{"100:0": {1}, "300:0": {1}}))
			ctx, done := withSending(t.Context(), false)
			defer done()
			_, err := cache.GetManySessions(ctx, []string{"100:0", "200:0"}) // of 200 there is none
			check(err)
			received := make(chan error, 1)
			go func() {
				received <- cache.DoDecryptionTxn(t.Context(), func(ctx context.Context) error {
					return cache.PutManySessions(ctx, map[string][]byte{c.moved: {2}})
				})
			}()
			select {
			case err := <-received:
				check(err)
			case <-time.After(time.Minute):
				t.Fatal("a message waits for the keys of somebody else's device")
			}
			err = cache.PutManySessions(ctx, map[string][]byte{"100:0": {3}, "200:0": {3}})
			if !errors.Is(err, c.want) {
				t.Errorf("the send is answered %v, want %v", err, c.want)
			}
			done()
			check(cache.PutManySessions(t.Context(), map[string][]byte{"100:0": {4}})) // nobody holds the ratchet
		})
	}
}

// However often messages come in between, a send succeeds: the last try keeps them waiting
// until it has written the sessions.
func TestSendSucceedsWhateverComesIn(t *testing.T) {
	t.Parallel()
	cache := newCache(t)
	if err := cache.PutManySessions(t.Context(), map[string][]byte{"100:0": {1}}); err != nil {
		t.Fatal(err)
	}
	tries, received := 0, make(chan error, sendTries)
	decrypt := func(decrypted chan<- struct{}) {
		received <- cache.DoDecryptionTxn(t.Context(), func(ctx context.Context) error {
			return cache.PutManySessions(ctx, map[string][]byte{"100:0": {2}})
		})
		close(decrypted)
	}
	err := Send(t.Context(), func(ctx context.Context) error {
		tries++
		if _, err := cache.GetManySessions(ctx, []string{"100:0", "200:0"}); err != nil { // of 200 there is none
			return err
		}
		decrypted := make(chan struct{})
		go decrypt(decrypted)
		if tries < sendTries {
			<-decrypted
		}
		return cache.PutManySessions(ctx, map[string][]byte{"100:0": {3}, "200:0": {3}})
	})
	if err != nil || tries != sendTries {
		t.Errorf("after %d tries the send is answered %v", tries, err)
	}
	for range sendTries {
		if err := <-received; err != nil {
			t.Error(err)
		}
	}
}

// A send to known devices keeps the ratchet until it has written the sessions.
func TestSendHoldsTheRatchet(t *testing.T) {
	t.Parallel()
	cache := newCache(t)
	if err := cache.PutManySessions(t.Context(), map[string][]byte{"100:0": {1}}); err != nil {
		t.Fatal(err)
	}
	ctx, done := withSending(t.Context(), false)
	defer done()
	if _, err := cache.GetManySessions(ctx, []string{"100:0"}); err != nil {
		t.Fatal(err)
	}
	if cache.ratchet.TryLock() {
		t.Fatal("a message can be decrypted while another one is encrypted")
	}
	if err := cache.PutManySessions(ctx, map[string][]byte{"100:0": {2}}); err != nil {
		t.Fatal(err)
	}
	if !cache.ratchet.TryLock() {
		t.Fatal("the ratchet is still held")
	}
	cache.ratchet.Unlock()
}
