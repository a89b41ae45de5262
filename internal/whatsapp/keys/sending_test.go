package keys

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/testkit/cases"
)

// While the keys of a new device are waited for, messages of the instance are
// decrypted as ever; where one of them moves a session that the send has read, the
// send is made anew, for what it has encrypted would be unreadable.
func TestSendLetsGoOfTheRatchet(t *testing.T) {
	t.Parallel()
	for name, c := range cases.Sorted(map[string]struct {
		moved string // the session that a message moves meanwhile
		want  error
	}{
		"another session": {"300:0", nil},
		"the same one":    {"100:0", errSessionMoved},
		"the new one":     {"200:0", errSessionMoved},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k, _ := newDevice(t)
			check(t, k.PutManySessions(t.Context(), map[string][]byte{"100:0": {1}, "300:0": {1}}))
			ctx, done := withSending(t.Context(), false, nil)
			defer done()
			_, err := k.GetManySessions(ctx, []string{"100:0", "200:0"}) // of 200 there is none
			check(t, err)
			received := make(chan error, 1)
			go func() {
				received <- k.DoDecryptionTxn(t.Context(), func(ctx context.Context) error {
					return k.PutManySessions(ctx, map[string][]byte{c.moved: {2}})
				})
			}()
			select {
			case err := <-received:
				check(t, err)
			case <-time.After(time.Minute):
				t.Fatal("a message waits for the keys of somebody else's device")
			}
			err = k.PutManySessions(ctx, map[string][]byte{"100:0": {3}, "200:0": {3}})
			if !errors.Is(err, c.want) {
				t.Errorf("the send is answered %v, want %v", err, c.want)
			}
			done()
			check(t, k.PutManySessions(t.Context(), map[string][]byte{"100:0": {4}})) // nobody holds the ratchet
		})
	}
}

// However often messages come in between, a send succeeds: the last try keeps them waiting
// until it has written the sessions.
func TestSendSucceedsWhateverComesIn(t *testing.T) {
	t.Parallel()
	k, _ := newDevice(t)
	check(t, k.PutManySessions(t.Context(), map[string][]byte{"100:0": {1}}))
	tries, received := 0, make(chan error, sendTries)
	decrypt := func(decrypted chan<- struct{}) {
		received <- k.DoDecryptionTxn(t.Context(), func(ctx context.Context) error {
			return k.PutManySessions(ctx, map[string][]byte{"100:0": {2}})
		})
		close(decrypted)
	}
	err := Send(t.Context(), nil, func(ctx context.Context) error {
		tries++
		if _, err := k.GetManySessions(ctx, []string{"100:0", "200:0"}); err != nil { // of 200 there is none
			return err
		}
		decrypted := make(chan struct{})
		go decrypt(decrypted)
		if tries < sendTries {
			<-decrypted
		}
		return k.PutManySessions(ctx, map[string][]byte{"100:0": {3}, "200:0": {3}})
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
	k, _ := newDevice(t)
	check(t, k.PutManySessions(t.Context(), map[string][]byte{"100:0": {1}}))
	ctx, done := withSending(t.Context(), false, nil)
	defer done()
	if _, err := k.GetManySessions(ctx, []string{"100:0"}); err != nil {
		t.Fatal(err)
	}
	if k.ratchet.TryLock() {
		t.Fatal("a message can be decrypted while another one is encrypted")
	}
	check(t, k.PutManySessions(ctx, map[string][]byte{"100:0": {2}}))
	if !k.ratchet.TryLock() {
		t.Fatal("the ratchet is still held")
	}
	k.ratchet.Unlock()
}
