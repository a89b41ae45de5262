package webhook_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/webhook"
	"github.com/recado-project/recado/internal/webhook/backlog"
)

// One endpoint hangs with all the requests that it may have, which is as many as
// there are places. They are moved out of the way, and the others get theirs.
// The control moves nobody: there the others wait.
func TestHangingEndpointDelaysNobody(t *testing.T) {
	t.Parallel()
	for name, test := range cases.Sorted(map[string]struct {
		slowAfter time.Duration
		wait      bool
	}{
		"moved":   {slowAfter: 10 * time.Millisecond},
		"control": {slowAfter: time.Hour, wait: true},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const others = 20
			gate := make(chan struct{})
			open := sync.OnceFunc(func() { close(gate) })
			hanging := receive(t, func(http.ResponseWriter, *http.Request, received) int {
				<-gate
				return http.StatusOK
			})
			t.Cleanup(open)
			endpoint := receive(t, nil)
			schedule := quick()
			schedule.SlowAfter = test.slowAfter
			r := newRig(t, webhook.Config{
				AllowPrivateURLs: true, Schedule: schedule, Limits: webhook.Limits{Healthy: 8, Slow: 4},
			})
			hangs := r.hooked(hanging.server.URL)
			var ids []string
			for range others {
				ids = append(ids, r.hooked(endpoint.server.URL))
			}
			r.spread(hangs, 20, 1)
			eventually(t, "all places are taken", func() bool { return hanging.busyNow() == 8 })
			for _, id := range ids {
				r.append(id, "chat", 1, 2, 3)
			}
			if test.wait {
				// Nothing tells that nothing happens.
				<-time.After(200 * time.Millisecond)
				if n := len(endpoint.came()); n > 0 {
					t.Errorf("%d requests came past the one that hangs, so this proves nothing", n)
				}
				open()
			}
			endpoint.waitFor(3 * others)
			if !test.wait && len(hanging.came()) > 0 {
				t.Error("the endpoint did not hang")
			}
			open()
			hanging.waitFor(20)
		})
	}
}

// An endpoint is dead while much is appended: it is tried now and then, hardly
// anything is kept in memory or written, and when it works again everything
// comes in order. The control is an endpoint that works.
func TestDeadEndpoint(t *testing.T) {
	t.Parallel()
	const chats, each = 50, 30
	for name, dead := range cases.Sorted(map[string]bool{"dead": true, "control": false}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var down atomic.Bool
			down.Store(dead)
			endpoint := receive(t, func(http.ResponseWriter, *http.Request, received) int {
				if down.Load() {
					return http.StatusServiceUnavailable
				}
				return http.StatusOK
			})
			schedule := quick()
			schedule.Endpoint = []time.Duration{20 * time.Millisecond, 50 * time.Millisecond}
			r := newRig(t, webhook.Config{AllowPrivateURLs: true, Schedule: schedule})
			id := r.hooked(endpoint.server.URL)
			if dead {
				r.append(id, "first", 1)
				endpoint.wait("the first tries", func(came []received) bool { return len(came) >= 4 })
			} else {
				r.append(id, "first", 1)
			}
			before, since := len(endpoint.came()), time.Now()
			r.spread(id, chats, each)
			if dead {
				endpoint.wait("ten tries more", func(came []received) bool { return len(came) >= before+10 })
				// 40 ms is the shortest wait there is after the third failure.
				if tries := len(endpoint.came()) - before; tries > 2+int(time.Since(since)/(40*time.Millisecond)) {
					t.Errorf("it was tried %d times in %s", tries, time.Since(since))
				}
				eventually(t, "nothing is in memory between two tries", func() bool { return r.service.InMemory(id) == 0 })
				if health := r.health(id); health.Status != backlog.StatusBackoff || health.BlockedChats > 8 {
					t.Errorf("it is %+v", health)
				}
				down.Store(false)
			}
			endpoint.waitFor(chats*each + 1)
			if !dead && len(endpoint.came()) < chats*each {
				t.Errorf("only %d requests came", len(endpoint.came()))
			}
			for _, event := range endpoint.got() {
				if event.chat == "first" && event.n != 1 {
					t.Errorf("%d came in the first chat", event.n)
				}
			}
			endpoint.drop("first")
			endpoint.wantOrder(chats, each)
			eventually(t, "it is well", func() bool {
				health := r.health(id)
				return health.Status == backlog.StatusOK && health.Cursor == chats*each+1 && health.Failures == 0
			})
			if dead := r.deliveries(id, webhook.DeliveryDeadLetter); len(dead) > 0 {
				t.Errorf("%d are dead letters", len(dead))
			}
		})
	}
}

// A dead endpoint writes no more than the state after each try, however much
// waits. The control works, and writes more.
func TestDeadEndpointWritesLittle(t *testing.T) {
	t.Parallel()
	rows := map[bool]int64{}
	for _, dead := range []bool{true, false} {
		status := map[bool]int{true: 500, false: 200}[dead]
		endpoint := receive(t, func(http.ResponseWriter, *http.Request, received) int { return status })
		var written atomic.Int64
		r := newRig(t, webhook.Config{AllowPrivateURLs: true})
		r.stop()
		schedule := quick()
		schedule.Endpoint = []time.Duration{time.Hour}
		r.start(webhook.Config{AllowPrivateURLs: true, Schedule: schedule}, func(s webhook.Store) webhook.Store {
			return countingStore{Store: s, rows: &written}
		})
		id := r.hooked(endpoint.server.URL)
		r.append(id, "chat", 0)
		eventually(t, "the first try has failed", func() bool { return !dead || r.health(id).Status == backlog.StatusBackoff })
		for n := range 10 {
			r.spread(id, 10, 10)
			if !dead {
				endpoint.waitFor(100*(n+1) + 1)
			}
		}
		r.stop()
		rows[dead] = written.Load()
	}
	if rows[true] > 10 {
		t.Errorf("a dead endpoint with 1,000 events waiting wrote %d rows", rows[true])
	}
	if rows[false] < 50 {
		t.Errorf("one that works wrote %d rows, so the count proves nothing", rows[false])
	}
}

// countingStore counts the rows that progress writes.
type countingStore struct {
	webhook.Store

	rows *atomic.Int64
}

func (s countingStore) SaveProgress(ctx context.Context, progress []webhook.Progress) error {
	for _, p := range progress {
		s.rows.Add(int64(1 + len(p.Blocked) + len(p.Unblocked) + len(p.DeadLetters) + len(p.Attempts)))
	}
	return s.Store.SaveProgress(ctx, progress)
}

// One event is refused whenever it comes. Only its chat waits; after six more
// tries it is a dead letter, and the chat goes on, in order. The control waits
// an hour after the first: there the chat is blocked for as long as the test.
func TestPoisonousEvent(t *testing.T) {
	t.Parallel()
	for name, test := range cases.Sorted(map[string]struct{ blocked bool }{"dies": {}, "control": {blocked: true}}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var tries atomic.Int64
			endpoint := receive(t, func(_ http.ResponseWriter, _ *http.Request, event received) int {
				if event.chat == "sick" && event.n == 3 {
					tries.Add(1)
					return http.StatusInternalServerError
				}
				return http.StatusOK
			})
			schedule := quick()
			if test.blocked {
				schedule.Event = []time.Duration{time.Hour}
			}
			var log written
			r := newRig(t, webhook.Config{AllowPrivateURLs: true, Schedule: schedule, Logger: log.logger()})
			id := r.hooked(endpoint.server.URL)
			r.append(id, "sick", 1, 2, 3, 4, 5)
			// The others go on, and show that the endpoint works.
			n := 0
			for ; n < 200 || !test.blocked && len(r.deliveries(id, webhook.DeliveryDeadLetter)) == 0; n++ {
				r.append(id, "sound", n+1)
				endpoint.wait("the sound one", func(came []received) bool {
					return slices.ContainsFunc(came, func(e received) bool { return e.chat == "sound" && e.n == n+1 })
				})
				if n > 100_000 {
					t.Fatal("it never became a dead letter")
				}
			}
			if test.blocked {
				blocked := r.deliveries(id, webhook.DeliveryBlocked)
				if len(blocked) != 1 || blocked[0].Chat != "sick" || blocked[0].Sequence != 3 || blocked[0].Failures != 1 ||
					blocked[0].Status != http.StatusInternalServerError {
					t.Errorf("blocked are %+v", blocked)
				}
				eventually(t, "the cursor is past the chat that waits", func() bool {
					health := r.health(id)
					return health.Cursor == health.Newest && health.BlockedChats == 1 && health.Status == backlog.StatusOK
				})
				for _, event := range endpoint.got() {
					if event.chat == "sick" && event.n > 2 {
						t.Errorf("%d came past the one that blocks", event.n)
					}
				}
				return
			}
			endpoint.waitFor(n + 4)
			var sick []int
			for _, event := range endpoint.got() {
				if event.chat == "sick" {
					sick = append(sick, event.n)
				}
			}
			if !slices.Equal(sick, []int{1, 2, 4, 5}) {
				t.Errorf("of the sick chat %v came", sick)
			}
			letters := r.deliveries(id, webhook.DeliveryDeadLetter)
			if len(letters) != 1 || letters[0].Sequence != 3 || letters[0].Chat != "sick" || letters[0].Status != 500 {
				t.Errorf("dead letters are %+v", letters)
			}
			if lines := log.with("an event is not delivered", "instance_id="+id, "webhook_id=", "event_id="+letters[0].EventID, "status=500"); len(lines) != 1 {
				t.Errorf("of the dead letter the log says %q", log.with("an event is not delivered"))
			}
			// The first failure is nobody's, seven count: the last of them kills. A
			// try while nothing else had succeeded does not count either.
			if got := tries.Load(); got < 8 {
				t.Errorf("it was tried %d times", got)
			}
			eventually(t, "nothing is blocked", func() bool { return r.health(id).BlockedChats == 0 })
		})
	}
}

// The first chat in the log fills the memory with events that can't be sent.
// The others are found all the same.
func TestPoisonousEventBeforeManyOfItsChat(t *testing.T) {
	t.Parallel()
	var healed atomic.Bool
	endpoint := receive(t, func(_ http.ResponseWriter, _ *http.Request, event received) int {
		if event.chat == "sick" && event.n == 1 && !healed.Load() {
			return http.StatusInternalServerError
		}
		return http.StatusOK
	})
	r := newRig(t, webhook.Config{AllowPrivateURLs: true})
	id := r.instance()
	r.save(id, webhook.Settings{URL: "http://127.0.0.1:1/"})
	numbers := make([]int, 1_000)
	for i := range numbers {
		numbers[i] = i + 1
	}
	r.append(id, "sick", numbers...)
	r.append(id, "sound", 1, 2, 3)
	r.save(id, webhook.Settings{URL: endpoint.server.URL})
	endpoint.wait("the sound chat", func(came []received) bool {
		return slices.ContainsFunc(came, func(e received) bool { return e.chat == "sound" && e.n == 3 })
	})
	healed.Store(true)
	r.check(r.service.Resume(t.Context(), webhook.First(id)))
	endpoint.waitFor(1_003)
	endpoint.drop("sound")
	endpoint.wantOrder(1, 1_000)
}

// A receiver refuses all for a while, because of a key of its own. Nothing is
// given up, and all comes in order afterwards. That a dead letter would have
// been seen, TestPoisonousEvent shows.
func TestUnauthorizedForAll(t *testing.T) {
	t.Parallel()
	const chats, each = 10, 20
	var locked atomic.Bool
	endpoint := receive(t, func(http.ResponseWriter, *http.Request, received) int {
		if locked.Load() {
			return http.StatusUnauthorized
		}
		return http.StatusOK
	})
	r := newRig(t, webhook.Config{AllowPrivateURLs: true})
	id := r.hooked(endpoint.server.URL)
	r.append(id, "before", 1, 2, 3)
	endpoint.waitFor(3)
	locked.Store(true)
	r.spread(id, chats, each)
	endpoint.wait("many refusals", func(came []received) bool { return len(came) > 3+60 })
	if health := r.health(id); health.Status != backlog.StatusBackoff || health.BlockedChats > 0 {
		t.Errorf("it is %+v", health)
	}
	chatsTried := map[string]bool{}
	for _, event := range endpoint.came() {
		chatsTried[event.chat] = true
	}
	if len(chatsTried) != chats+1 {
		t.Errorf("only %d chats were tried", len(chatsTried))
	}
	locked.Store(false)
	endpoint.waitFor(3 + chats*each)
	endpoint.drop("before")
	endpoint.wantOrder(chats, each)
	if letters := r.deliveries(id, webhook.DeliveryDeadLetter); len(letters) > 0 {
		t.Errorf("%d are dead letters", len(letters))
	}
}

// 410 ends the delivery at once, which is told by an event. To resume it brings
// what has waited. The control answers 404: that is tried again.
func TestGone(t *testing.T) {
	t.Parallel()
	for status, suspends := range cases.Sorted(map[int]bool{http.StatusGone: true, http.StatusNotFound: false}) {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			var answer atomic.Int64
			answer.Store(int64(status))
			endpoint := receive(t, func(http.ResponseWriter, *http.Request, received) int { return int(answer.Load()) })
			r := newRig(t, webhook.Config{AllowPrivateURLs: true})
			id := r.hooked(endpoint.server.URL)
			r.append(id, "chat", 1, 2, 3)
			if !suspends {
				endpoint.wait("more tries", func(came []received) bool { return len(came) > 5 })
				if health := r.health(id); health.Status != backlog.StatusBackoff {
					t.Errorf("it is %+v", health)
				}
				return
			}
			told := r.wantSuspended(id, backlog.ReasonGone)
			if told.NextSequence != 1 {
				t.Errorf("%d is told to be next", told.NextSequence)
			}
			r.append(id, "chat", 4)
			if n := len(endpoint.came()); n != 1 {
				t.Errorf("%d requests came", n)
			}
			answer.Store(http.StatusOK)
			r.check(r.service.Resume(t.Context(), webhook.First(id)))
			endpoint.waitFor(5)
			endpoint.drop("")
			endpoint.wantOrder(1, 4)
		})
	}
}

// wantSuspended waits until the webhook is suspended, and returns what was told
// of it.
func (r *rig) wantSuspended(instanceID, reason string) (told eventlog.WebhookSuspended) {
	r.t.Helper()
	var announced []eventlog.Event
	eventually(r.t, "the suspension is told", func() bool {
		events, err := r.log.Read(r.t.Context(), instanceID, 0, 1_000)
		r.check(err)
		announced = slices.DeleteFunc(events, func(e eventlog.Event) bool { return e.Kind != eventlog.KindWebhookSuspended })
		return len(announced) > 0
	})
	health := r.health(instanceID)
	if health.Status != backlog.StatusSuspended || health.Reason != reason || len(announced) != 1 {
		r.t.Errorf("it is %+v, told %d times", health, len(announced))
	}
	var data struct {
		Reason       string `json:"reason"`
		NextSequence int64  `json:"nextSequence"`
	}
	r.check(json.Unmarshal(announced[0].Data, &data))
	if data.Reason != reason {
		r.t.Errorf("the reason told is %s", data.Reason)
	}
	return eventlog.WebhookSuspended{Reason: data.Reason, NextSequence: data.NextSequence}
}

// Without one success for too long it is suspended, and saving it does as well
// as resuming. The control may fail for an hour.
func TestSuspendedAfterFailuresOnly(t *testing.T) {
	t.Parallel()
	for name, patient := range cases.Sorted(map[string]bool{"too long": false, "control": true}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			endpoint := receive(t, func(http.ResponseWriter, *http.Request, received) int { return http.StatusBadGateway })
			schedule := quick()
			schedule.SuspendAfter = 60 * time.Millisecond
			if patient {
				schedule.SuspendAfter = time.Hour
			}
			r := newRig(t, webhook.Config{AllowPrivateURLs: true, Schedule: schedule})
			id := r.hooked(endpoint.server.URL)
			r.append(id, "chat", 1)
			if patient {
				endpoint.wait("as many tries", func(came []received) bool { return len(came) > 20 })
				if health := r.health(id); health.Status != backlog.StatusBackoff {
					t.Errorf("it is %+v", health)
				}
				return
			}
			r.wantSuspended(id, backlog.ReasonUnreachable)
			sound := receive(t, nil)
			r.save(id, webhook.Settings{URL: sound.server.URL})
			sound.waitFor(2)
		})
	}
}

// An endpoint that says when to come again is left alone until then. The control
// says nothing.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for name, header := range cases.Sorted(map[string]string{"asked": "1", "control": ""}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			endpoint := receive(t, func(w http.ResponseWriter, _ *http.Request, event received) int {
				if event.n == 1 && header != "" {
					w.Header().Set("Retry-After", header)
				}
				return http.StatusTooManyRequests
			})
			r := newRig(t, webhook.Config{AllowPrivateURLs: true})
			id := r.hooked(endpoint.server.URL)
			r.append(id, "chat", 1)
			tries := map[bool]int{true: 2, false: 20}[header != ""]
			endpoint.wait("more tries", func(came []received) bool { return len(came) >= tries })
			shortest := time.Hour
			came := endpoint.came()
			for i := 1; i < tries; i++ {
				shortest = min(shortest, came[i].at.Sub(came[i-1].at))
			}
			if asked := header != ""; asked != (shortest > 990*time.Millisecond) {
				t.Errorf("it was tried again after %s", shortest)
			}
		})
	}
}

// A redirect is a failure, and nobody follows it. The control follows.
func TestRedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	target := receive(t, nil)
	endpoint := receive(t, func(w http.ResponseWriter, r *http.Request, event received) int {
		if event.n < 5 {
			http.Redirect(w, r, target.server.URL, http.StatusTemporaryRedirect)
		}
		return 0
	})
	r := newRig(t, webhook.Config{AllowPrivateURLs: true})
	id := r.hooked(endpoint.server.URL)
	r.append(id, "chat", 1)
	endpoint.wait("some tries", func(came []received) bool { return len(came) > 4 })
	if n := len(target.came()); n != 0 {
		t.Errorf("%d requests followed the redirect", n)
	}
	if health := r.health(id); health.Status != backlog.StatusBackoff {
		t.Errorf("it is %+v", health)
	}
	failed := r.deliveries(id, webhook.DeliveryFailed)
	if len(failed) == 0 || failed[0].Status != http.StatusTemporaryRedirect {
		t.Errorf("the attempts are %+v", failed)
	}
	response, err := http.Post(endpoint.server.URL, "application/json", strings.NewReader(`{"data":{"message":"chat/1"}}`))
	r.check(err)
	_ = response.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	if len(target.came()) != 1 {
		t.Error("an ordinary client does not follow it either, so this proves nothing")
	}
}

// busyNow is how many requests are in flight.
func (e *receiver) busyNow() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.all
}

// drop forgets a chat.
func (e *receiver) drop(chat string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.requests = slices.DeleteFunc(slices.Clone(e.requests), func(event received) bool { return event.chat == chat })
}
