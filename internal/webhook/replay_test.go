package webhook_test

import (
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/webhook"
)

func TestReplay(t *testing.T) { //nolint:tparallel // its parts follow each other
	t.Parallel()
	endpoint := receive(t, nil)
	r := newRig(t, webhook.Config{AllowPrivateURLs: true})
	id := r.hooked(endpoint.server.URL)
	r.append(id, "chat", 1, 2, 3, 4, 5)
	eventually(t, "all are delivered", func() bool { return r.health(id).Cursor == 5 })
	if _, err := r.store.DeleteEvents(t.Context(), id, 2); err != nil {
		t.Fatal(err)
	}
	ids := map[int64]string{}
	for _, event := range endpoint.came() {
		ids[event.Sequence] = event.ID
	}
	for _, test := range []struct { //nolint:paralleltest // one after another
		name string
		from webhook.From
		want webhook.Replayed
	}{
		{"from a number", webhook.From{Sequence: 4}, webhook.Replayed{FromSequence: 4, Events: 2}},
		{"the last one", webhook.From{Sequence: 5}, webhook.Replayed{FromSequence: 5, Events: 1}},
		{"older than what is kept", webhook.From{Sequence: 1}, webhook.Replayed{FromSequence: 3, Events: 3}},
		{"of the future", webhook.From{Sequence: 100}, webhook.Replayed{FromSequence: 6}},
		{"since long ago", webhook.From{Since: time.Unix(1, 0)}, webhook.Replayed{FromSequence: 3, Events: 3}},
		{"since the future", webhook.From{Since: time.Now().AddDate(1, 0, 0)}, webhook.Replayed{FromSequence: 6}},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := len(endpoint.came())
			got, err := r.service.Replay(t.Context(), webhook.First(id), test.from)
			if err != nil || got != test.want {
				t.Fatalf("it answers %+v, %v, want %+v", got, err, test.want)
			}
			endpoint.wait("the repeats", func(came []received) bool { return len(came) >= before+int(test.want.Events) })
			for i, event := range endpoint.came()[before:] {
				if want := test.want.FromSequence + int64(i); event.Sequence != want || event.ID != ids[want] {
					t.Errorf("%d (%s) came again, want %d with the id that it had", event.Sequence, event.ID, want)
				}
			}
			eventually(t, "the cursor is back", func() bool { return r.health(id).Cursor == 5 })
			if n := len(endpoint.came()) - before; n != int(test.want.Events) {
				t.Errorf("%d came again, want %d", n, test.want.Events)
			}
		})
	}
}

// A dead letter and a blocked chat come again with a replay that reaches them.
func TestReplayRevives(t *testing.T) {
	t.Parallel()
	var healed atomic.Bool
	endpoint := receive(t, func(_ http.ResponseWriter, _ *http.Request, event received) int {
		if event.chat != "sound" && event.n == 2 && !healed.Load() {
			return http.StatusBadRequest
		}
		return http.StatusOK
	})
	schedule := quick()
	schedule.Event = []time.Duration{time.Millisecond}
	r := newRig(t, webhook.Config{AllowPrivateURLs: true, Schedule: schedule})
	id := r.hooked(endpoint.server.URL)
	r.append(id, "dies", 1, 2, 3)
	sound := 0
	for len(r.deliveries(id, webhook.DeliveryDeadLetter)) == 0 {
		sound++
		r.append(id, "sound", sound)
		endpoint.wait("the sound chat", func(came []received) bool {
			return slices.ContainsFunc(came, func(e received) bool { return e.chat == "sound" && e.n == sound })
		})
	}
	letter := r.deliveries(id, webhook.DeliveryDeadLetter)[0]
	healed.Store(true)
	if _, err := r.service.Replay(t.Context(), webhook.First(id), webhook.From{Sequence: letter.Sequence + 1}); err != nil {
		t.Fatal(err)
	}
	if n := len(r.deliveries(id, webhook.DeliveryDeadLetter)); n != 1 {
		t.Errorf("%d dead letters are left by a replay that begins after it", n)
	}
	if _, err := r.service.Replay(t.Context(), webhook.First(id), webhook.From{Sequence: letter.Sequence}); err != nil {
		t.Fatal(err)
	}
	endpoint.wait("the dead letter", func([]received) bool {
		return slices.ContainsFunc(endpoint.got(), func(e received) bool { return e.ID == letter.EventID })
	})
	if n := len(r.deliveries(id, webhook.DeliveryDeadLetter)); n != 0 {
		t.Errorf("%d dead letters are left", n)
	}
}

// A replay while requests are in flight keeps to one request a chat.
func TestReplayUnderLoad(t *testing.T) {
	t.Parallel()
	const chats, each = 10, 60
	endpoint := receive(t, nil)
	r := newRig(t, webhook.Config{AllowPrivateURLs: true})
	id := r.hooked(endpoint.server.URL)
	r.spread(id, chats, each)
	for n := range 5 {
		endpoint.waitFor((n + 1) * 50)
		if _, err := r.service.Replay(t.Context(), webhook.First(id), webhook.From{Sequence: 1}); err != nil {
			t.Fatal(err)
		}
	}
	endpoint.waitFor(chats * each)
	eventually(t, "the cursor is at the end", func() bool { return r.health(id).Cursor == chats*each })
	endpoint.wantOrder(chats, each)
}

// Each replay is many requests to somebody's endpoint: a few may follow each
// other, then there is one in a while, also after the webhook was made anew.
func TestReplaysAreLimited(t *testing.T) {
	t.Parallel()
	var later atomic.Int64
	endpoint := receive(t, nil)
	schedule := quick()
	schedule.ReplayEvery = time.Minute
	start := time.Now()
	r := newRig(t, webhook.Config{
		AllowPrivateURLs: true, Schedule: schedule, Now: func() time.Time { return start.Add(time.Duration(later.Load())) },
	})
	id, other := r.hooked(endpoint.server.URL), r.hooked(endpoint.server.URL)
	replay := func(id string) error {
		_, err := r.service.Replay(t.Context(), webhook.First(id), webhook.From{Sequence: 1})
		return err
	}
	for range 6 {
		r.check(replay(id))
	}
	refusal := wantCode(t, replay(id), gateway.RateLimited, gateway.CodeRateLimited)
	if refusal.RetryAfter < 59*time.Second || refusal.RetryAfter > time.Minute {
		t.Errorf("it is to be tried again after %s", refusal.RetryAfter)
	}
	r.check(r.service.Delete(t.Context(), webhook.First(id)))
	r.save(id, webhook.Settings{URL: endpoint.server.URL})
	wantCode(t, replay(id), gateway.RateLimited, gateway.CodeRateLimited)
	r.check(replay(other))
	later.Store(int64(time.Minute))
	r.check(replay(id))
	wantCode(t, replay(id), gateway.RateLimited, gateway.CodeRateLimited)
}
