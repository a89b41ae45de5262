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
	"github.com/recado-project/recado/internal/testkit/crowd"
)

// BenchmarkReceive measures how texts of phones reach the webhook: they are decrypted,
// stored and logged with fsync before they are acknowledged to the platform, signed, and
// delivered. Bare whatsmeow decrypts them, acknowledges them after a handler has counted
// them, and waits for the disk too. The phones send while the program is stopped, so that
// it is fully loaded when it starts. What a start with one message for each costs is
// subtracted from the CPU time.
func BenchmarkReceive(b *testing.B) {
	for _, instances := range []int{1, 50} {
		b.Run(fmt.Sprintf("instances=%d", instances), func(b *testing.B) {
			w := &world{sandbox: startSandbox(b), data: b.TempDir(), flags: []string{"--allow-private-urls"}}
			w.startGateway(b)
			for i := range instances {
				w.link(b, i)
			}
			w.awaitConnected(b)
			w.send(b, crowd.WarmUp, 1) // both sides write: a steady session
			arrived := w.countReceived(b)
			w.receive(b, crowd.WarmUp, arrived)
			base := w.receive(b, 1, arrived)
			bare := startBare(b, instances, b.TempDir())
			bare.receive(b, crowd.WarmUp)
			bareBase := bare.receive(b, 1)
			for b.Loop() {
				used := w.receive(b, messagesPerRun/instances, arrived)
				report(b, beyond(used, base), beyond(bare.receive(b, messagesPerRun/instances), bareBase))
			}
		})
	}
}

// beyond subtracts what a start has cost from everything but the time.
func beyond(used, base usage) usage {
	elapsed, messages := used.elapsed, used.messages
	used = used.minus(base)
	used.elapsed = elapsed * time.Duration(used.messages) / time.Duration(messages)
	return used
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
		config := client.NewWebhookConfig{WebhookURL: sink.URL, Secret: "whsec_c2VjcmV0"}
		if _, err := w.client.SaveWebhookConfig(b.Context(), id, config); err != nil {
			b.Fatal(err)
		}
	}
	return &arrived
}

// receive makes phones write that many messages to each instance while the gateway is
// stopped, starts it, and waits until everything has arrived.
func (w *world) receive(b *testing.B, each int, arrived *atomic.Int64) usage {
	b.Helper()
	w.gateway.Stop()
	messages := each * len(w.instances)
	want := arrived.Load() + int64(messages)
	phonesWrite(b, w.sandbox, len(w.instances), each, "")
	began := time.Now()
	w.startGateway(b)
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for arrived.Load() < want {
		<-ticker.C
	}
	return usage{messages: messages, elapsed: time.Since(began), cpu: w.gateway.cpu(b)}
}

// phonesWrite makes phones write that many messages to each instance.
func phonesWrite(b *testing.B, sandbox *server, instances, each int, prefix string) {
	b.Helper()
	var group sync.WaitGroup
	for i := range instances {
		group.Go(func() {
			for n := range each {
				text := fmt.Sprintf("%smessage %d", prefix, n)
				if err := crowd.SendText(b.Context(), sandbox.address, crowd.Recipient(i), crowd.Owner(i), text); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
}
