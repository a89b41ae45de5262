package call

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// A caller gets one text within the pause, and an instance sends no flood of them.
func TestTextsToCallersAreBounded(t *testing.T) {
	t.Parallel()
	var told told
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	take := func(instance, caller string, at time.Time, want bool) {
		t.Helper()
		if got := told.take(instance, gateway.JID(caller), at); got != want {
			t.Errorf("%s at %s may get a text of %s: %v, want %v", caller, at.Format(time.TimeOnly), instance, got, want)
		}
	}
	take("a", "1", now, true)
	take("a", "1", now.Add(textPause-time.Second), false)
	take("b", "1", now, true)
	take("a", "1", now.Add(textPause), true)
	later := now.Add(3 * textPause)
	for n := range maxTexts {
		take("a", fmt.Sprint("caller ", n), later, true)
	}
	take("a", "one more", later, false)
	take("b", "one more", later, true)
	take("a", "one more", later.Add(textPause), true)
	if len(told.last) != 1 || len(told.last["a"]) != 1 {
		t.Errorf("remembers %v", told.last)
	}
}

func TestLateCallsAreLeftAlone(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		reject bool
		age    time.Duration
		want   bool
	}{{true, 0, true}, {true, freshness, true}, {true, freshness + time.Second, false}, {false, 0, false}} {
		if got := rejects(gateway.CallRule{Reject: test.reject}, gateway.Call{At: now.Add(-test.age)}, now); got != test.want {
			t.Errorf("%+v: %v", test, got)
		}
	}
}

// A flood of calls waits for nobody.
func TestAFloodOfCallsDoesNotWait(t *testing.T) {
	t.Parallel()
	service := &Service{config: Config{Logger: slog.New(slog.DiscardHandler)}, waiting: make(chan ring, maxWaiting)}
	for range 10 * maxWaiting { // nobody takes them
		service.Rings(t.Context(), "instance", gateway.Call{Chat: gateway.Party{JID: "5511988887766@s.whatsapp.net"}})
		service.Rings(t.Context(), "instance", gateway.Call{Chat: gateway.Party{JID: "120363041234567890@g.us"}})
	}
	if len(service.waiting) != maxWaiting {
		t.Errorf("%d calls wait, want %d", len(service.waiting), maxWaiting)
	}
}

// silence is a platform that answers nobody of one instance, and knows no call of the others.
type silence struct {
	instance string
	reached  chan string
}

func (s silence) Session(ctx context.Context, instanceID string) (gateway.Session, error) {
	if instanceID == s.instance {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	s.reached <- instanceID
	return nil, gateway.Errorf(gateway.NotFound, gateway.CodeCallNotFound, "no such call rings")
}

func (silence) GetInstance(_ context.Context, id string) (gateway.Instance, error) {
	return gateway.Instance{ID: id, Sending: gateway.SendingRules{Calls: gateway.CallRule{Reject: true}}}, nil
}

// While the platform is silent to one instance, calls of another are rejected.
func TestSilenceHoldsNoOtherInstance(t *testing.T) {
	t.Parallel()
	platform := silence{"silent", make(chan string, 1)}
	service, err := New(Config{
		Sessions: platform, Store: platform, Logger: slog.New(slog.DiscardHandler),
		SendText: func(context.Context, string, gateway.JID, string) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- service.Run(ctx) }()
	for n, id := range []string{"silent", "silent", "other"} {
		service.Rings(ctx, id, gateway.Call{ID: fmt.Sprint(n), At: time.Now(), Chat: gateway.Party{JID: "5511988887766@s.whatsapp.net"}})
	}
	select {
	case <-platform.reached:
	case <-time.After(time.Minute):
		t.Error("the other instance waits")
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
