package bench_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
)

// BenchmarkIdleWebhooks starts a gateway with ten thousand instances, each with a webhook
// and without events, and measures it while it is idle.
func BenchmarkIdleWebhooks(b *testing.B) {
	const webhooks, idle = 10_000, 20 * time.Second
	// A minute after its start the program returns the memory that the start needed.
	const rest = 70 * time.Second
	w := &world{sandbox: startSandbox(b), data: b.TempDir(), flags: []string{"--allow-private-urls"}}
	w.startGateway(b)
	var next atomic.Int64
	var group sync.WaitGroup
	for range 64 {
		group.Go(func() {
			for next.Add(1) <= webhooks {
				instance, err := w.client.CreateInstance(b.Context(), client.NewInstance{Name: "shop"})
				if err == nil {
					_, err = w.client.SaveWebhookConfig(b.Context(), instance.InstanceID, client.NewWebhookConfig{
						WebhookURL: "http://127.0.0.1:1/events", Secret: "whsec_c2VjcmV0",
					})
				}
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	w.gateway.Stop()
	for b.Loop() {
		w.startGateway(b)
		empty := startGateway(b, w.sandbox, b.TempDir())
		<-time.After(rest)
		cpu := w.gateway.cpu(b)
		<-time.After(idle)
		b.ReportMetric(float64(w.gateway.rss(b))/1e6, "MB-10000")
		b.ReportMetric(float64(empty.rss(b))/1e6, "MB-empty")
		b.ReportMetric(100*(w.gateway.cpu(b)-cpu).Seconds()/idle.Seconds(), "%-of-a-core")
	}
}
