package bench_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit/process"
)

// BenchmarkList gets the list of ten instances, one request after another, and then the same
// answer from a program that is Go's HTTP server and nothing else.
func BenchmarkList(b *testing.B) {
	const warmUp, requests = 2000, 20_000
	world := startWorld(b, 10)
	list, err := world.client.ListInstances(b.Context(), client.ListInstancesParams{}, 0, 0)
	if err != nil {
		b.Fatal(err)
	}
	answer, err := json.Marshal(list)
	if err != nil {
		b.Fatal(err)
	}
	bare := startBareHTTP(b, answer)
	measure := func(server *server, from *client.Client) (perRequest time.Duration) {
		get := func(times int) {
			for range times {
				if _, err := from.ListInstances(b.Context(), client.ListInstancesParams{}, 0, 0); err != nil {
					b.Fatal(err)
				}
			}
		}
		get(warmUp)
		before := server.cpu(b)
		get(requests)
		return (server.cpu(b) - before) / requests
	}
	for b.Loop() {
		gateway := measure(world.gateway, world.client)
		alone := measure(bare, client.New("http://"+bare.address, "none"))
		b.ReportMetric(float64(gateway.Microseconds()), "cpu-µs/request")
		b.ReportMetric(float64(alone.Microseconds()), "bare-cpu-µs/request")
		b.ReportMetric(float64(gateway)/float64(alone), "times-bare-cpu")
		b.ReportMetric(0, "ns/op")
	}
}

func startBareHTTP(tb testing.TB, answer []byte) *server {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "answer.json")
	if err := os.WriteFile(path, answer, 0o600); err != nil {
		tb.Fatal(err)
	}
	bare := &server{Process: process.Start(tb, process.Build(tb, "barehttp"), path)}
	bare.address = strings.TrimPrefix(strings.TrimSpace(bare.Await("listening at ")), "listening at ")
	return bare
}
