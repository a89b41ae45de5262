package store_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// The command line revokes keys while a gateway uses the same file: the gateway, which
// keeps keys in memory, must see it at once.
func TestARevokedKeyIsSeenByAnotherProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data", "recado.db") // its folder is made
	serve, other := open(t, store.Config{Path: path}), open(t, store.Config{Path: path})
	ctx := t.Context()
	account := gateway.Account{ID: "account", Name: "shop", CreatedAt: time.Now()}
	if err := serve.CreateAccount(ctx, account); err != nil {
		t.Fatal(err)
	}
	for i, revoke := range cases.Sorted(map[string]*store.Store{"here": serve, "elsewhere": other}) {
		key := gateway.Key{ID: i, AccountID: account.ID, Name: i, Hash: []byte(i), CreatedAt: time.Now()}
		if err := other.CreateKey(ctx, key); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if got, found, err := serve.FindKey(ctx, key.Hash); !found || err != nil || !got.RevokedAt.IsZero() {
				t.Fatalf("%s: found %v, %+v, %v", i, found, got, err)
			}
		}
		if err := revoke.RevokeKey(ctx, account.ID, key.ID, time.Now()); err != nil {
			t.Fatal(err)
		}
		if got, _, err := serve.FindKey(ctx, key.Hash); err != nil || got.RevokedAt.IsZero() {
			t.Errorf("%s: the key is still good: %+v, %v", i, got, err)
		}
	}
}

// A reader that is woken by an event of an instance finds the instance as the event says, although
// the instance is kept in memory.
func TestAnInstanceIsNewWhenItsEventRings(t *testing.T) {
	t.Parallel()
	bell := new(eventlog.Bell)
	s := open(t, store.Config{Path: filepath.Join(t.TempDir(), "recado.db"), Bell: bell})
	ctx := t.Context()
	account := gateway.Account{ID: "account", Name: "shop", CreatedAt: time.Now()}
	instance := gateway.Instance{ID: "instance", AccountID: account.ID, Name: "0", CreatedAt: time.Now()}
	if err := s.CreateAccount(ctx, account); err != nil {
		t.Fatal(err)
	}
	if err := s.CreateInstance(ctx, instance); err != nil {
		t.Fatal(err)
	}
	names := func() [2]string {
		one, err := s.GetInstance(ctx, instance.ID)
		if err != nil {
			t.Error(err)
		}
		page, err := s.ListInstances(ctx, account.ID, nil, gateway.PageRequest{Page: 1, Limit: 10})
		if err != nil || len(page.Items) != 1 {
			t.Errorf("listed %+v, %v", page, err)
			return [2]string{}
		}
		listed := page.Items[0].Name
		page.Items[0].Name = "a caller's own" // it must not be seen by the next
		return [2]string{one.Name, listed}
	}
	rung := make(chan [2]string, 1)
	bell.Listen(func([]eventlog.Event) { rung <- names() })
	for i := range 3 {
		want := string(rune('0' + i))
		for range 2 {
			if got := names(); got != [2]string{want, want} {
				t.Errorf("read %q, want %q", got, want)
			}
		}
		next := string(rune('1' + i))
		if _, err := s.UpdateInstance(ctx, instance.ID, func(changed *gateway.Instance) ([]eventlog.Event, error) {
			changed.Name = next
			return []eventlog.Event{{ID: next, SourceKey: next, Kind: eventlog.KindInstanceStatus, At: time.Now(), Data: []byte("{}")}}, nil
		}); err != nil {
			t.Fatal(err)
		}
		if got := <-rung; got != [2]string{next, next} {
			t.Errorf("at the event: read %q, want %q", got, next)
		}
	}
}
