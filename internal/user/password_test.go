package user

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/recado-project/recado/internal/gateway"
)

// Few passwords are checked at the same time, some wait, and the rest are sent away:
// strangers can't fill the memory.
func TestPasswordsAreCheckedInTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPasswords(PasswordCost{})
		release := make(chan struct{})
		running := make(chan struct{}, hashesWaiting)
		done := make(chan error, hashesWaiting)
		for range hashesWaiting {
			go func() {
				done <- p.inTurn(t.Context(), func() error {
					running <- struct{}{}
					<-release
					return nil
				})
			}()
		}
		synctest.Wait()
		if n := len(running); n != hashesAtOnce {
			t.Errorf("%d are checked at the same time", n)
		}
		err := p.inTurn(t.Context(), func() error { return nil })
		if gateway.KindOf(err) != gateway.Unavailable {
			t.Errorf("one more is answered %v", err)
		}
		close(release)
		for range hashesWaiting {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if err := p.inTurn(t.Context(), func() error { return nil }); err != nil {
			t.Errorf("later answered %v", err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		p.turns <- struct{}{}
		p.turns <- struct{}{}
		if err := p.inTurn(gone, func() error { return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("who has left is answered %v", err)
		}
	})
}

// The standard cost is what is recommended for argon2id.
func TestPasswordCost(t *testing.T) {
	t.Parallel()
	hash, err := newPasswords(PasswordCost{}).hash(t.Context(), "x")
	if const19 := "$argon2id$v=19$m=19456,t=2,p=1$"; err != nil || len(hash) < len(const19) || hash[:len(const19)] != const19 {
		t.Errorf("the hash is %s (%v)", hash, err)
	}
}
