package user_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/user"
)

// Who watches a sign-in learns that it has ended, whatever ended it; others hear
// nothing.
func TestWatchTellsTheEndOfASignIn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	elsewhere := r.another(false)
	owner := r.add("owner", gateway.RoleOwner)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	watch := func(actor user.Actor, browser string, until time.Time) <-chan struct{} {
		t.Helper()
		watched, err := r.Get(t.Context(), actor.UserID)
		r.check(err)
		ended, stop := r.Watch(watched, browser, until)
		t.Cleanup(stop)
		return ended
	}
	tomorrow := r.clock().Add(24 * time.Hour)
	other := watch(owner, "x", tomorrow)
	number := 0
	for name, end := range cases.Sorted(map[string]func(actor user.Actor) error{
		"signed out": func(actor user.Actor) error {
			r.SignedOut(t.Context(), actor, "b "+actor.Name)
			return nil
		},
		"signed out everywhere": func(actor user.Actor) error { return r.SignOutEverywhere(t.Context(), owner, actor.UserID) },
		"another role":          func(actor user.Actor) error { return r.SetRole(t.Context(), owner, actor.UserID, gateway.RoleViewer) },
		"deleted":               func(actor user.Actor) error { return r.Delete(t.Context(), owner, actor.UserID) },
		"deleted elsewhere":     func(actor user.Actor) error { return elsewhere.Delete(t.Context(), owner, actor.UserID) },
		"another role elsewhere": func(actor user.Actor) error {
			return elsewhere.SetRole(t.Context(), owner, actor.UserID, gateway.RoleViewer)
		},
		"another password": func(actor user.Actor) error {
			_, err := r.ChangePassword(t.Context(), actor, goodWord, "another good one")
			return err
		},
		"another password elsewhere": func(actor user.Actor) error {
			_, err := elsewhere.ChangePassword(t.Context(), actor, goodWord, "another good one")
			return err
		},
		"its time": func(user.Actor) error {
			r.wait(time.Second)
			return nil
		},
	}) {
		number++
		actor := r.add(fmt.Sprintf("user%d", number), gateway.RoleOperator)
		until := tomorrow
		if name == "its time" {
			until = r.clock().Add(time.Second)
		}
		ended := watch(actor, "b "+actor.Name, until)
		if err := end(actor); err != nil {
			t.Fatal(err)
		}
		late, cancelLate := context.WithTimeout(t.Context(), 30*time.Second) // a busy machine is no failure
		select {
		case <-ended:
		case <-other:
			t.Fatalf("%s: another sign-in was told to have ended", name)
		case <-late.Done():
			t.Errorf("%s: nobody was told", name)
		}
		cancelLate()
	}
}

// Who has stopped watching is told nothing.
func TestStopWatching(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	owner, ana := r.add("owner", gateway.RoleOwner), r.add("ana", gateway.RoleViewer)
	watched, err := r.Get(t.Context(), ana.UserID)
	r.check(err)
	ended, stop := r.Watch(watched, "b", r.clock().Add(time.Hour))
	stop()
	r.check(r.Delete(t.Context(), owner, ana.UserID))
	select {
	case <-ended:
		t.Error("the channel was closed")
	default:
	}
	stop()
}
