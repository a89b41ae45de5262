package bench_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/seal"
	"github.com/recado-project/recado/internal/testkit/crowd"
)

// BenchmarkSealed sends texts with a master key and without one, in turn, so that other work
// on the machine is shared by both.
func BenchmarkSealed(b *testing.B) {
	const instances, each, rounds = 50, 40, 5
	file := filepath.Join(b.TempDir(), "key")
	if err := os.WriteFile(file, []byte(seal.NewKey().Text()), 0o600); err != nil {
		b.Fatal(err)
	}
	var worlds [2]*world
	for i, keep := range [][]string{nil, {"--master-key-file", file}} {
		w := &world{sandbox: startSandbox(b, "--load"), data: b.TempDir(), keep: keep}
		w.startGateway(b)
		for n := range instances {
			w.link(b, n)
		}
		w.awaitConnected(b)
		w.send(b, crowd.WarmUp, 1)
		worlds[i] = w
	}
	for b.Loop() {
		var cpu, elapsed [2]time.Duration
		for range rounds {
			for i, w := range worlds {
				before, began := w.gateway.cpu(b), time.Now()
				w.send(b, each, 1)
				elapsed[i] += time.Since(began)
				cpu[i] += w.gateway.cpu(b) - before
			}
		}
		const messages = instances * each * rounds
		b.ReportMetric(float64(cpu[0].Microseconds())/messages, "plain-cpu-µs/message")
		b.ReportMetric(float64(cpu[1].Microseconds())/messages, "sealed-cpu-µs/message")
		b.ReportMetric(100*(float64(cpu[1])/float64(cpu[0])-1), "%-more-cpu")
		b.ReportMetric(100*(float64(elapsed[1])/float64(elapsed[0])-1), "%-more-time")
		b.ReportMetric(0, "ns/op")
	}
}
