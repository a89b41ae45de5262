package access_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/database"
)

// A watcher of a key learns within a second that it has ended, whatever ended
// it; the other keys' watchers hear nothing.
func TestWatchTellsTheEndOfAKey(t *testing.T) {
	t.Parallel()
	opened, err := store.Open(t.Context(), store.Config{
		Path: database.File(t), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	service, err := access.New(access.Config{Store: opened})
	if err != nil {
		t.Fatal(err)
	}
	elsewhere, err := access.New(access.Config{Store: opened})
	if err != nil {
		t.Fatal(err)
	}
	account, err := service.EnsureAccount(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- service.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	create := func(lifetime time.Duration) gateway.Key {
		t.Helper()
		params := access.KeyParams{AccountID: account.ID, Name: "till"}
		if lifetime > 0 {
			params.ExpiresAt = time.Now().Add(lifetime)
		}
		key, _, err := service.CreateKey(t.Context(), params)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	other, stopOther := service.Watch(create(0))
	defer stopOther()
	for name, test := range cases.Sorted(map[string]struct {
		lifetime time.Duration
		end      func(key gateway.Key) error
	}{
		"revoked here":      {0, func(key gateway.Key) error { return service.RevokeKey(t.Context(), account.ID, key.ID) }},
		"revoked elsewhere": {0, func(key gateway.Key) error { return elsewhere.RevokeKey(t.Context(), account.ID, key.ID) }},
		"expired":           {50 * time.Millisecond, func(gateway.Key) error { return nil }},
	}) {
		key := create(test.lifetime)
		ended, stop := service.Watch(key)
		again, stopAgain := service.Watch(key)
		if err := test.end(key); err != nil {
			t.Fatal(err)
		}
		late, cancelLate := context.WithTimeout(t.Context(), time.Minute) // a busy machine is no failure
		for _, ended := range []<-chan struct{}{ended, again} {
			select {
			case <-ended:
			case <-other:
				t.Fatalf("%s: another key was told to have ended", name)
			case <-late.Done():
				t.Errorf("%s: nobody was told", name)
			}
		}
		cancelLate()
		stop()
		stopAgain()
	}
}

func TestKeysWithin(t *testing.T) {
	t.Parallel()
	service, account, clock := newService(t)
	create := func(name string, ids []string, ends time.Duration) gateway.Key {
		t.Helper()
		params := access.KeyParams{AccountID: account.ID, Name: name, InstanceIDs: ids, Partner: true}
		if ends > 0 {
			params.ExpiresAt = clock.now.Add(ends)
		}
		key, _, err := service.CreateKey(t.Context(), params)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	all := create("all", nil, 0)
	own := create("own", []string{"a", "b"}, time.Hour)
	for range 600 { // more than one look at the store
		create("beyond", []string{"c"}, time.Hour)
	}
	longer := create("longer", []string{"a"}, 2*time.Hour)
	first := create("first", []string{"a"}, time.Hour)
	second := create("second", []string{"b", "a"}, time.Minute)

	page, err := service.ListKeysWithin(t.Context(), own, gateway.PageRequest{Page: 2, Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	if page.Total != 3 || len(page.Items) != 1 {
		t.Fatalf("the second page of two is %+v", page)
	}
	page, err = service.ListKeysWithin(t.Context(), own, gateway.PageRequest{Page: 1, Limit: 100})
	if err != nil || len(page.Items) != 3 || page.Items[0].ID != own.ID {
		t.Fatalf("listed %+v (%v)", page, err)
	}
	for _, key := range []gateway.Key{all, longer} {
		if err := service.RevokeKeyWithin(t.Context(), own, key.ID); gateway.KindOf(err) != gateway.NotFound {
			t.Errorf("%s: answered %v", key.Name, err)
		}
	}
	for _, key := range []gateway.Key{first, second, own} {
		if err := service.RevokeKeyWithin(t.Context(), own, key.ID); err != nil {
			t.Errorf("%s: answered %v", key.Name, err)
		}
	}
	if page, err = service.ListKeysWithin(t.Context(), all, gateway.PageRequest{Page: 1, Limit: 1}); err != nil || page.Total != 605 {
		t.Errorf("the whole account has %d keys (%v)", page.Total, err)
	}
}
