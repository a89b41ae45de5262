package webhook_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/webhook"
	"github.com/recado-project/recado/internal/webhook/backlog"
)

// frozenStore saves nothing from the moment on that the process is dead.
type frozenStore struct {
	webhook.Store

	dead *atomic.Bool
}

func (s frozenStore) SaveProgress(ctx context.Context, progress []webhook.Progress) error {
	if s.dead.Load() {
		return nil
	}
	return s.Store.SaveProgress(ctx, progress)
}

// The process dies again and again while events are appended and an endpoint
// refuses some. What it had not saved is lost, but no event is: each comes, and
// in order. The control saves a cursor that is ahead of what was delivered.
func TestCrash(t *testing.T) {
	t.Parallel()
	for name, lies := range cases.Sorted(map[string]bool{"honest": false, "control": true}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const chats, each, lives = 8, 40, 6
			endpoint := receive(t, func(http.ResponseWriter, *http.Request, received) int {
				if rand.IntN(20) == 0 {
					return http.StatusServiceUnavailable
				}
				return http.StatusOK
			})
			config := webhook.Config{AllowPrivateURLs: true}
			r := newRig(t, config)
			id := r.hooked(endpoint.server.URL)
			for life := range lives {
				r.stop()
				var dead atomic.Bool
				r.start(config, func(s webhook.Store) webhook.Store {
					if lies {
						return lyingStore{s}
					}
					return frozenStore{Store: s, dead: &dead}
				})
				var group sync.WaitGroup
				for chat := range chats {
					group.Go(func() {
						for n := life*each + 1; n <= (life+1)*each; n++ {
							r.append(id, fmt.Sprint("chat", chat), n)
						}
					})
				}
				group.Wait()
				if life == lives-1 {
					break
				}
				endpoint.wait("something new", func(came []received) bool {
					return slices.ContainsFunc(came, func(e received) bool { return e.n > life*each })
				})
				dead.Store(true)
			}
			if lies {
				eventually(t, "the end is reached", func() bool { return r.health(id).Cursor == chats*each*lives })
				if distinct(endpoint.got()) == chats*each*lives {
					t.Error("all came, so this proves nothing")
				}
				return
			}
			endpoint.waitFor(chats * each * lives)
			endpoint.wantOrder(chats, each*lives)
		})
	}
}

// lyingStore saves cursors that are ahead.
type lyingStore struct{ webhook.Store }

func (s lyingStore) SaveProgress(ctx context.Context, progress []webhook.Progress) error {
	for i := range progress {
		progress[i].State.Cursor += 20
	}
	return s.Store.SaveProgress(ctx, progress)
}

func distinct(events []received) int {
	ids := map[string]bool{}
	for _, event := range events {
		ids[event.ID] = true
	}
	return len(ids)
}

// A service that is stopped saves where it is: the next one sends nothing twice.
func TestStopSavesWhereItIs(t *testing.T) {
	t.Parallel()
	endpoint := receive(t, nil)
	schedule := quick()
	schedule.FlushPause = time.Hour
	config := webhook.Config{AllowPrivateURLs: true, Schedule: schedule}
	r := newRig(t, config)
	id := r.hooked(endpoint.server.URL)
	r.append(id, "chat", 1, 2, 3)
	eventually(t, "all are delivered", func() bool { return r.health(id).Cursor == 3 })
	r.stop()
	r.start(config)
	if health := r.health(id); health.Cursor != 3 || health.Newest != 3 {
		t.Errorf("it begins with %+v", health)
	}
	r.append(id, "chat", 4)
	endpoint.waitFor(4)
	endpoint.wantOrder(1, 4)
	if n := len(endpoint.came()); n != 4 {
		t.Errorf("%d requests came for 4 events", n)
	}
}

// What was delivered does not come again after a stop because an event before it, of another chat,
// was still waiting, or was cut off.
func TestStopLeavesNoGap(t *testing.T) {
	t.Parallel()
	for name, c := range cases.Sorted(map[string]struct {
		wait     time.Duration
		requests int // in all, for 4 events
	}{"it is answered": {patience, 4}, "it is cut off": {time.Millisecond, 5}}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			arrived, release := make(chan struct{}), make(chan struct{})
			var slow sync.Once
			endpoint := receive(t, func(_ http.ResponseWriter, r *http.Request, event received) int {
				if event.chat == "slow" && event.n == 1 {
					slow.Do(func() {
						close(arrived)
						select {
						case <-release:
						case <-r.Context().Done():
						}
					})
				}
				return http.StatusOK
			})
			schedule := quick()
			schedule.StopWait = c.wait
			config := webhook.Config{AllowPrivateURLs: true, Schedule: schedule}
			r := newRig(t, config)
			id := r.hooked(endpoint.server.URL)
			r.append(id, "slow", 1, 2)
			r.append(id, "quick", 1)
			r.append(id, "slow", 3)
			<-arrived
			// A request whose answer is still on its way would be cut off too.
			eventually(t, "one is delivered", func() bool { return len(r.deliveries(id, webhook.DeliveryDone)) == 1 })
			closed := r.service.IsClosed(id)
			stopped := make(chan struct{})
			go func() {
				r.stop()
				close(stopped)
			}()
			eventually(t, "nothing is begun any more", closed)
			if c.wait == patience {
				close(release)
			}
			<-stopped
			r.start(config)
			eventually(t, "all have come", func() bool { return distinct(endpoint.got()) == 4 && r.health(id).Cursor == 4 })
			if n := len(endpoint.came()); n != c.requests {
				t.Errorf("%d requests came for 4 events, want %d", n, c.requests)
			}
			for _, chat := range []string{"slow", "quick"} {
				before := 0
				for _, event := range endpoint.got() {
					if event.chat == chat && event.n < before {
						t.Errorf("%d of chat %s came after %d", event.n, chat, before)
					}
					if event.chat == chat {
						before = event.n
					}
				}
			}
		})
	}
}

// A request in flight when the service stops is cut off after a while, and its
// event comes again.
func TestStopCutsOffRequests(t *testing.T) {
	t.Parallel()
	var hangs atomic.Bool
	hangs.Store(true)
	arrived := make(chan struct{}, 1)
	endpoint := receive(t, func(_ http.ResponseWriter, r *http.Request, _ received) int {
		if hangs.Load() {
			arrived <- struct{}{}
			<-r.Context().Done()
			return 0
		}
		return http.StatusOK
	})
	config := webhook.Config{AllowPrivateURLs: true}
	r := newRig(t, config)
	id := r.hooked(endpoint.server.URL)
	r.append(id, "chat", 1)
	<-arrived
	r.stop()
	hangs.Store(false)
	r.start(config)
	if health := r.health(id); health.Status != backlog.StatusOK || health.Failures != 0 {
		t.Errorf("our own stop counts as %+v", health)
	}
	endpoint.waitFor(1)
}

// What is appended while the webhooks are still being loaded is not missed.
func TestAppendedWhileLoading(t *testing.T) {
	t.Parallel()
	endpoint := receive(t, nil)
	config := webhook.Config{AllowPrivateURLs: true}
	r := newRig(t, config)
	id := r.hooked(endpoint.server.URL)
	r.stop()
	r.start(config, func(s webhook.Store) webhook.Store {
		return lateStore{Store: s, after: func() { r.append(id, "chat", 1) }}
	})
	endpoint.waitFor(1)
}

// lateStore does something after it has looked at the webhooks.
type lateStore struct {
	webhook.Store

	after func()
}

func (s lateStore) Webhooks(ctx context.Context, instanceIDs []string) ([]webhook.Saved, error) {
	all, err := s.Store.Webhooks(ctx, instanceIDs)
	s.after()
	return all, err
}

// The log, or the database, fails for a while: nothing is lost.
func TestBrokenStore(t *testing.T) {
	t.Parallel()
	endpoint := receive(t, nil)
	config := webhook.Config{AllowPrivateURLs: true}
	r := newRig(t, config)
	id := r.hooked(endpoint.server.URL)
	r.stop()
	var broken atomic.Int64
	broken.Store(3)
	r.start(config, func(s webhook.Store) webhook.Store { return brokenStore{Store: s, left: &broken} })
	r.append(id, "chat", 1, 2, 3)
	eventually(t, "all are delivered", func() bool { return r.health(id).Cursor == 3 })
	if err := r.service.Resume(t.Context(), webhook.First(id)); err == nil && broken.Load() > 0 {
		t.Error("what could not be saved was told as saved")
	}
	for broken.Load() > 0 {
		_ = r.service.Resume(t.Context(), webhook.First(id))
	}
	r.stop()
	r.start(config)
	if health := r.health(id); health.Cursor != 3 {
		t.Errorf("saved is %+v", health)
	}
}

type brokenStore struct {
	webhook.Store

	left *atomic.Int64
}

func (s brokenStore) SaveProgress(ctx context.Context, progress []webhook.Progress) error {
	if s.left.Add(-1) >= 0 {
		return context.DeadlineExceeded
	}
	return s.Store.SaveProgress(ctx, progress)
}

// The log can't be read for a while.
func TestBrokenLog(t *testing.T) {
	t.Parallel()
	endpoint := receive(t, nil)
	config := webhook.Config{AllowPrivateURLs: true}
	r := newRig(t, config)
	id := r.hooked("http://127.0.0.1:1/") // nobody is there
	r.append(id, "chat", 1, 2, 3)
	r.stop()
	var failures atomic.Int64
	r.wrapLog = func(log webhook.Log) webhook.Log { return brokenLog{Log: log, failures: &failures} }
	r.start(config)
	r.save(id, webhook.Settings{URL: endpoint.server.URL})
	endpoint.waitFor(3)
	endpoint.wantOrder(1, 3)
	if failures.Load() == 0 {
		t.Error("the log was read without a failure, so this proves nothing")
	}
}

// brokenLog fails to be read the first time.
type brokenLog struct {
	webhook.Log

	failures *atomic.Int64
}

func (l brokenLog) ReadSlice(ctx context.Context, instanceID string, after int64, limit, size int) ([]eventlog.Event, error) {
	if l.failures.CompareAndSwap(0, 1) {
		return nil, context.DeadlineExceeded
	}
	return l.Log.ReadSlice(ctx, instanceID, after, limit, size)
}

// An event of the log that retention has removed is passed over.
func TestExpiredEvents(t *testing.T) {
	t.Parallel()
	endpoint := receive(t, nil)
	r := newRig(t, webhook.Config{AllowPrivateURLs: true})
	id := r.hooked("http://127.0.0.1:1/") // nobody is there
	r.append(id, "gone", 1, 2, 3)
	eventually(t, "it fails", func() bool { return r.health(id).Status == backlog.StatusBackoff })
	if _, err := r.store.DeleteEvents(t.Context(), id, 3); err != nil { // the newest stays
		t.Fatal(err)
	}
	r.append(id, "chat", 1)
	r.save(id, webhook.Settings{URL: endpoint.server.URL})
	endpoint.waitFor(2)
	for _, event := range endpoint.got() {
		if event.Sequence < 3 {
			t.Errorf("%d came, which is gone", event.Sequence)
		}
	}
	eventually(t, "the cursor is at the end", func() bool { return r.health(id).Cursor == 4 })
}
