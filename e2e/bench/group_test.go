package bench_test

import (
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit/crowd"
)

// BenchmarkGroupOfAThousand sends texts to a group of 1,000 members, one after another. The first
// one gives each member's phone the key that the others are encrypted with. Receipts of the members
// are in the CPU time.
func BenchmarkGroupOfAThousand(b *testing.B) {
	const members, texts = 1000, 20
	for b.Loop() {
		w := startWorld(b, 1)
		w.send(b, crowd.WarmUp, 1)
		group, err := crowd.CreateGroup(b.Context(), w.sandbox.address, crowd.Owner(0), members)
		if err != nil {
			b.Fatal(err)
		}
		send := func(times int) (took, cpu time.Duration) {
			before, began := w.gateway.cpu(b), time.Now()
			for range times {
				if _, err := w.client.SendText(b.Context(), w.instances[0], client.Text{To: group, Message: "to everybody"}); err != nil {
					b.Fatal(err)
				}
			}
			took = time.Since(began) / time.Duration(times)
			w.rest(b)
			return took, (w.gateway.cpu(b) - before) / time.Duration(times)
		}
		before := w.gateway.rss(b)
		took, cpu := send(1)
		b.ReportMetric(float64(took.Milliseconds()), "ms-first")
		b.ReportMetric(float64(cpu.Milliseconds()), "cpu-ms-first")
		took, cpu = send(texts)
		b.ReportMetric(float64(took.Microseconds())/1000, "ms")
		b.ReportMetric(float64(cpu.Microseconds())/1000, "cpu-ms")
		b.ReportMetric(float64(w.gateway.rss(b)-before)/1e6, "MB-more")
		b.ReportMetric(0, "ns/op")
	}
}
