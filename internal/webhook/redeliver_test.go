package webhook_test

import (
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/webhook"
)

// One event comes again with its id, whatever the state of the webhook, and nothing else
// does.
func TestRedeliver(t *testing.T) {
	t.Parallel()
	var healed atomic.Bool
	endpoint := receive(t, func(w http.ResponseWriter, _ *http.Request, event received) int {
		if event.chat == "dies" && !healed.Load() {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte("no, thanks"))
			return 0
		}
		return http.StatusOK
	})
	schedule := quick()
	schedule.Event = []time.Duration{time.Millisecond}
	r := newRig(t, webhook.Config{AllowPrivateURLs: true, Schedule: schedule})
	id := r.hooked(endpoint.server.URL)
	r.append(id, "dies", 1)
	sound := 0
	for len(r.deliveries(id, webhook.DeliveryDeadLetter)) == 0 {
		sound++
		r.append(id, "sound", sound)
		endpoint.wait("the sound chat", func(came []received) bool {
			return slices.ContainsFunc(came, func(e received) bool { return e.chat == "sound" && e.n == sound })
		})
	}
	eventually(t, "all are delivered or given up", func() bool { return r.health(id).Cursor == int64(sound)+1 })
	letter, before := r.deliveries(id, webhook.DeliveryDeadLetter)[0], len(endpoint.came())

	result, err := r.service.Redeliver(t.Context(), webhook.First(id), letter.Sequence)
	if err != nil || result.Status != http.StatusBadRequest || result.Answer != "no, thanks" || result.Error == "" {
		t.Errorf("the endpoint refuses, and it answers %+v (%v)", result, err)
	}
	if n := len(r.deliveries(id, webhook.DeliveryDeadLetter)); n != 1 {
		t.Errorf("%d dead letters are left when the endpoint refused", n)
	}
	if newest := r.deliveries(id, webhook.DeliveryFailed)[0]; newest.EventID != letter.EventID || newest.Answer != "no, thanks" {
		t.Errorf("the newest attempt is %+v", newest)
	}
	r.save(id, webhook.Settings{URL: endpoint.server.URL, Active: new(false)})
	healed.Store(true)
	result, err = r.service.Redeliver(t.Context(), webhook.First(id), letter.Sequence)
	if err != nil || result.Status != http.StatusOK || result.Error != "" {
		t.Errorf("the endpoint takes it, and it answers %+v (%v)", result, err)
	}
	if n := len(r.deliveries(id, webhook.DeliveryDeadLetter)); n != 0 {
		t.Errorf("%d dead letters are left", n)
	}
	came := endpoint.came()[before:]
	if len(came) != 2 || came[0].ID != letter.EventID || came[1].ID != letter.EventID {
		t.Errorf("%+v came again", came)
	}
	if cursor := r.health(id).Cursor; cursor != int64(sound)+1 {
		t.Errorf("the cursor is %d", cursor)
	}

	_, err = r.service.Redeliver(t.Context(), webhook.First(id), letter.Sequence+1_000)
	if gateway.KindOf(err) != gateway.NotFound {
		t.Errorf("an event of the future: %v", err)
	}
	r.check(r.log.Append(t.Context(), note(t, id, "sound", 0)))
	if _, err := r.store.DeleteEvents(t.Context(), id, letter.Sequence); err != nil {
		t.Fatal(err)
	}
	if _, err = r.service.Redeliver(t.Context(), webhook.First(id), letter.Sequence); gateway.KindOf(err) != gateway.NotFound {
		t.Errorf("an event that is not kept any more: %v", err)
	}
	if _, err = r.service.Redeliver(t.Context(), webhook.First(r.instance()), 1); gateway.KindOf(err) != gateway.NotFound {
		t.Errorf("an instance without a webhook: %v", err)
	}
}

// Many webhooks are looked at without the database.
func TestConditionsOfMany(t *testing.T) {
	t.Parallel()
	endpoint := receive(t, nil)
	gone := receive(t, func(http.ResponseWriter, *http.Request, received) int { return http.StatusGone })
	r := newRig(t, webhook.Config{AllowPrivateURLs: true})
	flowing, suspended, inactive, without := r.hooked(endpoint.server.URL), r.hooked(gone.server.URL), r.hooked(endpoint.server.URL), r.instance()
	r.save(inactive, webhook.Settings{URL: endpoint.server.URL, Active: new(false)})
	r.append(flowing, "chat", 1, 2)
	r.append(suspended, "chat", 1, 2, 3)
	r.append(inactive, "chat", 1)
	eventually(t, "the good one has everything", func() bool { return r.health(flowing).Cursor == 2 })
	// Its suspension is an event too.
	eventually(t, "the gone one is suspended", func() bool { return r.health(suspended).Newest == 4 })
	got, err := r.service.Conditions(t.Context(), []string{flowing, suspended, inactive, without, "nobody"})
	r.check(err)
	for id, want := range cases.Sorted(map[string]webhook.Condition{
		flowing: {Flow: webhook.FlowFlowing}, suspended: {Flow: webhook.FlowSuspended, Reason: "gone", Pending: 4}, inactive: {Flow: webhook.FlowInactive},
	}) {
		if len(got[id]) != 1 {
			t.Fatalf("there are %d conditions of one webhook", len(got[id]))
		}
		have := got[id][0]
		have.Since = time.Time{}
		if have != want {
			t.Errorf("%+v is answered, want %+v", got[id], want)
		}
	}
	if len(got) != 3 {
		t.Errorf("there are %d conditions", len(got))
	}
	summary := r.service.Summarize()
	if summary.Pending != 4 || summary.Flows[webhook.FlowFlowing] != 1 || summary.Flows[webhook.FlowSuspended] != 1 || summary.Flows[webhook.FlowInactive] != 1 {
		t.Errorf("the sum is %+v", summary)
	}
}
