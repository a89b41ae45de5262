package bench_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/bench/phones"
)

// BenchmarkReceive measures how texts of phones reach the webhook: they are decrypted,
// stored and logged with fsync before they are acknowledged to the platform, signed, and
// delivered. The phones send while the gateway is stopped, so that it is fully loaded when
// it starts. The cost of a start without waiting texts is subtracted. The CPU time is the
// gateway's.
func BenchmarkReceive(b *testing.B) {
	for _, instances := range []int{1, 50} {
		b.Run(fmt.Sprintf("instances=%d", instances), func(b *testing.B) {
			w := &world{sandbox: startSandbox(b), data: b.TempDir(), flags: []string{"--allow-private-urls"}}
			w.startGateway(b)
			for i := range instances {
				w.link(b, i)
			}
			w.awaitConnected(b)
			w.send(b, phones.WarmUp, 1) // both sides write: a steady session
			arrived := w.countReceived(b)
			w.receive(b, phones.WarmUp*instances, arrived)
			_, base := w.receive(b, instances, arrived)
			for b.Loop() {
				elapsed, cpu := w.receive(b, messagesPerRun, arrived)
				report(b, elapsed, cpu-base)
			}
		})
	}
}

// countReceived gives all instances a webhook, and counts the messages that it gets.
func (w *world) countReceived(b *testing.B) *atomic.Int64 {
	b.Helper()
	var arrived atomic.Int64
	sink := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		var event client.Event
		if err := json.NewDecoder(r.Body).Decode(&event); err != nil {
			b.Error(err)
		}
		if event.Type == "message.received" {
			arrived.Add(1)
		}
		rw.WriteHeader(http.StatusNoContent)
	}))
	b.Cleanup(sink.Close)
	for _, id := range w.instances {
		config := client.WebhookConfig{WebhookURL: sink.URL, Secret: "whsec_c2VjcmV0"}
		if _, err := w.client.SaveWebhook(b.Context(), id, config); err != nil {
			b.Fatal(err)
		}
	}
	return &arrived
}

// receive makes phones write to all instances while the gateway is stopped, starts it, and
// waits until everything has arrived. It returns how long that took, and the CPU time.
func (w *world) receive(b *testing.B, messages int, arrived *atomic.Int64) (elapsed, cpu time.Duration) {
	b.Helper()
	w.gateway.Stop()
	each := messages / len(w.instances)
	want := arrived.Load() + int64(each*len(w.instances))
	var group sync.WaitGroup
	for i := range w.instances {
		group.Go(func() {
			for n := range each {
				text := fmt.Sprintf("message %d", n)
				if err := phones.SendText(b.Context(), w.sandbox.address, phones.Recipient(i), phones.Owner(i), text); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	began := time.Now()
	w.startGateway(b)
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for arrived.Load() < want {
		<-ticker.C
	}
	return time.Since(began), w.gateway.cpu(b)
}
