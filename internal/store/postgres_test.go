package store_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/postgres"
	"github.com/recado-project/recado/internal/webhook"
)

// The events of many writes are appended by one statement. One that PostgreSQL
// refuses fails with its own write, and no other; the numbers have no gap.
func TestRefusedEventSpoilsNoOther(t *testing.T) {
	t.Parallel()
	bell := new(eventlog.Bell)
	s := open(t, store.Config{URL: postgres.Start(t), Bell: bell})
	const instance, writers, each = "instance", 16, 25
	var mu sync.Mutex
	var rung, kept []string
	bell.Listen(func(events []eventlog.Event) {
		mu.Lock()
		defer mu.Unlock()
		for _, event := range events {
			rung = append(rung, event.ID)
		}
	})
	var group sync.WaitGroup
	for writer := range writers {
		group.Go(func() {
			for n := range each {
				chat, sound := gateway.JID("5511988887766@s.whatsapp.net"), n%5 > 0
				if !sound {
					chat = "no\x00text" // PostgreSQL's texts have no NUL
				}
				event, err := eventlog.NewEvent(instance, chat, "", time.UnixMilli(1), eventlog.WebhookTest{Message: fmt.Sprint(writer, n)})
				if err != nil {
					t.Error(err)
				}
				if err := s.AppendEvents(t.Context(), instance, event); (err == nil) != sound {
					t.Errorf("event %d of %d: %v", n, writer, err)
				}
			}
		})
	}
	group.Wait()
	events, err := s.ReadEvents(t.Context(), instance, 0, writers*each)
	if err != nil {
		t.Fatal(err)
	}
	for i, event := range events {
		if event.Sequence != int64(i+1) {
			t.Fatalf("event %d has the number %d", i+1, event.Sequence)
		}
		kept = append(kept, event.ID)
	}
	if len(kept) != writers*each*4/5 || !slices.Equal(rung, kept) {
		t.Errorf("%d events are kept, the bell rang for %d", len(kept), len(rung))
	}
}

// A message that comes a second time adds no events, whether they are appended one after another or by one statement.
func TestSecondDelivery(t *testing.T) {
	t.Parallel()
	s := open(t, store.Config{URL: postgres.Start(t)})
	if err := s.CreateAccount(t.Context(), gateway.Account{ID: "account", Name: "account"}); err != nil {
		t.Fatal(err)
	}
	for _, count := range []int{1, 20} {
		instance := gateway.Instance{ID: fmt.Sprint("instance with ", count), AccountID: "account"}
		if err := s.CreateInstance(t.Context(), instance); err != nil {
			t.Fatal(err)
		}
		for n := range 2 {
			message := gateway.Message{ID: fmt.Sprint(n, count), InstanceID: instance.ID, PlatformID: "A", WireKey: "key", Chat: gateway.Party{JID: "5511988887766@s.whatsapp.net"}}
			events := make([]eventlog.Event, count)
			for i := range events {
				events[i] = eventlog.Event{ID: fmt.Sprint("event ", n, count, i), Data: []byte("{}")}
			}
			if added, err := s.AddMessage(t.Context(), message, events...); err != nil || added != (n == 0) {
				t.Errorf("delivery %d was added: %t, %v", n+1, added, err)
			}
			if _, newest, err := s.EventBounds(t.Context(), instance.ID); err != nil || newest != int64(count) {
				t.Errorf("after delivery %d the newest event is %d of %d, %v", n+1, newest, count, err)
			}
		}
	}
}

// Messages of many instances share commits. If an instance is gone, or a key is taken, its
// own caller is told so, and no other.
func TestRefusedMessageSpoilsNoOther(t *testing.T) {
	t.Parallel()
	s := open(t, store.Config{URL: postgres.Start(t)})
	keep := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	keep(s.CreateAccount(t.Context(), gateway.Account{ID: "account", Name: "account"}))
	const instances, each = 12, 20
	gone := func(instance int) bool { return instance%5 == 2 }
	repeated := func(n int) bool { return n%7 == 6 }
	var group sync.WaitGroup
	for instance := range instances {
		id := fmt.Sprint("instance", instance)
		if !gone(instance) {
			keep(s.CreateInstance(t.Context(), gateway.Instance{ID: id, AccountID: "account"}))
		}
		group.Go(func() {
			var kept []func() error
			for n := range each {
				record := gateway.Idempotency{KeyID: id, Key: fmt.Sprint(n)}
				if repeated(n) {
					record.Key = fmt.Sprint(n - 1)
				}
				message := gateway.Message{ID: fmt.Sprint(id, "-", n), InstanceID: id, PlatformID: fmt.Sprint(n)}
				kept = append(kept, s.AcceptMessage(t.Context(), message, &record))
			}
			for n, wait := range kept {
				err := wait()
				ok := err == nil
				if gone(instance) {
					ok = gateway.KindOf(err) == gateway.NotFound
				} else if repeated(n) {
					ok = gateway.KindOf(err) == gateway.Conflict
				}
				if !ok {
					t.Errorf("message %d of %s: %v", n, id, err)
				}
			}
		})
	}
	group.Wait()
}

// What a message needs of the database most often takes one round trip.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	through, trips := postgres.RoundTrips(t, postgres.Start(t))
	s := open(t, store.Config{URL: through, Conns: 1})
	keep := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	keep(s.CreateAccount(t.Context(), gateway.Account{ID: "account", Name: "account"}))
	var progress []webhook.Progress
	for n := range 3 {
		id := fmt.Sprint("instance", n)
		keep(s.CreateInstance(t.Context(), gateway.Instance{ID: id, AccountID: "account"}))
		keep(s.Webhooks.SaveWebhook(t.Context(), webhook.Webhook{InstanceID: id, ID: id}, nil))
		progress = append(progress, webhook.Progress{ID: id, InstanceID: id, Attempts: []webhook.Attempt{{Number: 1}, {Number: 2}}})
	}
	const instance = "instance0"
	for name, c := range cases.Sorted(map[string]struct {
		trips int64
		do    func(id string) error
	}{
		"a message that is accepted": {1, func(id string) error {
			message := gateway.Message{ID: id, InstanceID: instance, PlatformID: id}
			return s.AcceptMessage(t.Context(), message, &gateway.Idempotency{KeyID: "key", Key: id})()
		}},
		"a message that is received": {1, func(id string) error {
			event, err := eventlog.NewEvent(instance, "", id, time.UnixMilli(1), eventlog.WebhookTest{Message: id})
			if err != nil {
				return err
			}
			message := gateway.Message{ID: id, InstanceID: instance, PlatformID: id, WireKey: id}
			if added, err := s.AddMessage(t.Context(), message, event); err != nil || !added {
				t.Errorf("added is %v: %v", added, err)
			}
			return nil
		}},
		"the progress of webhooks": {2, func(string) error { return s.Webhooks.SaveProgress(t.Context(), progress) }},
	}) {
		keep(c.do(name + " 1")) // it prepares the statements
		before := trips()
		keep(c.do(name + " 2"))
		if got := trips() - before; got != c.trips {
			t.Errorf("%s takes %d round trips, want %d", name, got, c.trips)
		}
	}
}
