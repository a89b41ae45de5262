package webhook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/postgres"
	"github.com/recado-project/recado/internal/webhook"
)

// counter is the quickest receiver there is.
type counter struct {
	server *httptest.Server
	n      atomic.Int64
	want   int64
	done   chan struct{}
	came   func(r *http.Request)
}

func count(tb testing.TB, want int, came func(r *http.Request)) *counter {
	tb.Helper()
	c := &counter{want: int64(want), done: make(chan struct{}), came: came}
	c.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if c.came != nil {
			c.came(r)
		}
		if c.n.Add(1) == c.want {
			close(c.done)
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	tb.Cleanup(c.server.Close)
	return c
}

// payload is an event with 700 bytes of data.
func payload(tb testing.TB, instanceID, chat string) eventlog.Event {
	tb.Helper()
	event, err := eventlog.NewEvent(instanceID, gateway.JID(chat), "", time.Now(),
		eventlog.WebhookTest{Message: fmt.Sprintf("%0600d", 1)})
	if err != nil {
		tb.Fatal(err)
	}
	return event
}

// BenchmarkAppendAndDeliver appends from many goroutines to ten instances and
// waits until all is delivered; the receiver runs in the same process.
func BenchmarkAppendAndDeliver(b *testing.B) {
	b.Run("SQLite", func(b *testing.B) {
		appendAndDeliver(b, store.Config{Path: filepath.Join(b.TempDir(), "recado.db")})
	})
	b.Run("PostgreSQL", func(b *testing.B) {
		appendAndDeliver(b, store.Config{URL: postgres.Start(b)})
	})
}

func appendAndDeliver(b *testing.B, database store.Config) {
	b.Helper()
	const instances, writers = 10, 256
	r := newRigOn(b, database, webhook.Config{AllowPrivateURLs: true, Schedule: webhook.Schedule{StopWait: time.Second}})
	c := count(b, b.N, nil)
	secret := "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	var ids []string
	for range instances {
		id := r.instance()
		r.save(id, webhook.Settings{URL: c.server.URL, Secret: &secret})
		ids = append(ids, id)
	}
	var next atomic.Int64
	b.ResetTimer()
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			for {
				n := int(next.Add(1))
				if n > b.N {
					return
				}
				if err := r.log.Append(b.Context(), payload(b, ids[n%instances], fmt.Sprint(n%100))); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	<-c.done
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkCatchUp delivers a backlog of one webhook from the log.
func BenchmarkCatchUp(b *testing.B) {
	r := newRig(b, webhook.Config{AllowPrivateURLs: true})
	c := count(b, b.N, nil)
	id := r.hooked(c.server.URL)
	inactive := false
	for n := 0; n < b.N; n += 500 {
		if n == 0 {
			r.save(id, webhook.Settings{URL: c.server.URL, Active: &inactive})
			r.save(id, webhook.Settings{URL: "http://127.0.0.1:1/"}) // nobody is there
		}
		var events []eventlog.Event
		for i := range min(500, b.N-n) {
			events = append(events, payload(b, id, fmt.Sprint(i%100)))
		}
		r.check(r.log.Append(b.Context(), events...))
	}
	b.ResetTimer()
	r.save(id, webhook.Settings{URL: c.server.URL})
	<-c.done
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkLatency appends 500 events a second to 100 instances, one after
// another, and measures the time from the append's begin to the receiver: while
// all is well, and while the endpoint of one of them hangs for ten seconds each
// time.
func BenchmarkLatency(b *testing.B) {
	b.Run("all well", func(b *testing.B) { latency(b, false) })
	b.Run("one hangs", func(b *testing.B) { latency(b, true) })
}

func latency(b *testing.B, oneHangs bool) {
	b.Helper()
	const instances = 100
	r := newRig(b, webhook.Config{AllowPrivateURLs: true, Schedule: webhook.Schedule{StopWait: time.Second}})
	began := sync.Map{}
	var mu sync.Mutex
	var took []time.Duration
	sound, first := b.N, 0
	if oneHangs {
		sound, first = b.N-(b.N+instances-1)/instances, 1
	}
	c := count(b, sound, func(request *http.Request) {
		if at, ok := began.Load(request.Header.Get("Webhook-Id")); ok {
			mu.Lock()
			took = append(took, time.Since(at.(time.Time)))
			mu.Unlock()
		}
	})
	var ids []string
	if oneHangs {
		ids = append(ids, r.hooked(hanging(b, 10*time.Second)))
	}
	for range instances - first {
		ids = append(ids, r.hooked(c.server.URL))
	}
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	b.ResetTimer()
	var group sync.WaitGroup
	for n := range b.N {
		<-tick.C
		event := payload(b, ids[n%instances], fmt.Sprint(n%7))
		began.Store(event.ID, time.Now())
		group.Go(func() {
			if err := r.log.Append(b.Context(), event); err != nil {
				b.Error(err)
			}
		})
	}
	group.Wait()
	b.StopTimer()
	if sound == 0 {
		return // the first, short run of a benchmark
	}
	<-c.done
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}

// hanging returns the URL of an endpoint that answers after a while, or when its
// caller has gone.
func hanging(b *testing.B, while time.Duration) (url string) {
	b.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-time.After(while):
		case <-r.Context().Done():
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	b.Cleanup(server.Close)
	return server.URL
}

// BenchmarkDeadNeighbour has one endpoint dead with 100,000 events waiting while
// 99 others get 500 events a second; then it heals. It measures the others'
// latency, how often the dead one was tried a second, and how long the backlog
// takes.
func BenchmarkDeadNeighbour(b *testing.B) {
	const waiting, others = 100_000, 99
	r := newRig(b, webhook.Config{AllowPrivateURLs: true, Schedule: webhook.Schedule{StopWait: time.Second}})
	var dead atomic.Bool
	var tries, healed atomic.Int64
	dead.Store(true)
	done := make(chan struct{})
	var mu sync.Mutex
	last := map[string]int64{}
	sick := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		var event received
		if err := json.NewDecoder(request.Body).Decode(&event); err != nil {
			b.Error(err)
		}
		if dead.Load() {
			tries.Add(1)
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		chat := event.Data.Message[:4]
		mu.Lock()
		if event.Sequence < last[chat] {
			b.Errorf("%d of %s comes after %d", event.Sequence, chat, last[chat])
		}
		last[chat] = event.Sequence
		mu.Unlock()
		if healed.Add(1) == waiting {
			close(done)
		}
	}))
	b.Cleanup(sick.Close)
	id := r.hooked(sick.URL)
	before := memory()
	for n := 0; n < waiting; n += 500 {
		var events []eventlog.Event
		for i := range 500 {
			events = append(events, note(b, id, fmt.Sprintf("%04d", (n+i)%1_000), n+i))
		}
		r.check(r.log.Append(b.Context(), events...))
	}
	grown := memory() - before
	var took []time.Duration
	began := sync.Map{}
	sound := count(b, 500*b.N, func(request *http.Request) {
		if at, ok := began.Load(request.Header.Get("Webhook-Id")); ok {
			mu.Lock()
			took = append(took, time.Since(at.(time.Time)))
			mu.Unlock()
		}
	})
	var ids []string
	for range others {
		ids = append(ids, r.hooked(sound.server.URL))
	}
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	tries.Store(0)
	b.ResetTimer()
	var group sync.WaitGroup
	for n := range 500 * b.N {
		<-tick.C
		event := payload(b, ids[n%others], fmt.Sprint(n%7))
		began.Store(event.ID, time.Now())
		group.Go(func() {
			if err := r.log.Append(b.Context(), event); err != nil {
				b.Error(err)
			}
		})
	}
	group.Wait()
	<-sound.done
	b.StopTimer()
	slices.Sort(took)
	b.ReportMetric(float64(tries.Load())/b.Elapsed().Seconds(), "tries/s")
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	dead.Store(false)
	heals := time.Now()
	r.check(r.service.Resume(b.Context(), webhook.First(id)))
	<-done
	b.ReportMetric(time.Since(heals).Seconds(), "heal-s")
	b.ReportMetric(float64(int64(grown))/(1<<20), "dead-MiB")
}

// memory returns the bytes in use.
func memory() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// BenchmarkIdle measures what a webhook takes that has nothing to do.
func BenchmarkIdle(b *testing.B) {
	const webhooks = 10_000
	r := newRig(b, webhook.Config{AllowPrivateURLs: true})
	c := count(b, webhooks, nil)
	ids := make([]string, webhooks)
	var group sync.WaitGroup
	for worker := range 64 {
		group.Go(func() {
			for i := worker; i < webhooks; i += 64 {
				ids[i] = uuid.Must(uuid.NewV7()).String()
				if err := r.store.CreateInstance(context.Background(), gateway.Instance{
					ID: ids[i], AccountID: r.account, Name: "phone", Status: gateway.StatusCreated,
				}); err != nil {
					b.Error(err)
				}
			}
		})
	}
	group.Wait()
	runtime.KeepAlive(ids)
	before := memory()
	for worker := range 64 {
		group.Go(func() {
			for i := worker; i < webhooks; i += 64 {
				if _, err := r.service.Save(context.Background(), ids[i], webhook.Settings{URL: c.server.URL + "/hook/" + ids[i]}); err != nil {
					b.Error(err)
				}
				if err := r.log.Append(context.Background(), payload(b, ids[i], "chat")); err != nil {
					b.Error(err)
				}
			}
		})
	}
	group.Wait()
	<-c.done
	// They come to rest when their states are saved.
	for _, id := range ids {
		eventually(b, "it is at rest", func() bool { return r.health(id).Cursor == 1 })
	}
	for range b.N {
		b.ReportMetric(float64(memory()-before)/webhooks, "bytes/webhook")
	}
	runtime.KeepAlive(r)
}
