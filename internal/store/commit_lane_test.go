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
	"github.com/recado-project/recado/internal/testkit/postgres"
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
