package bench_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/database"
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

// messagesRead is among how many messages BenchmarkChats reads. The figures in docs/performance.md are for a million.
//
//nolint:gochecknoglobals // a flag
var messagesRead = flag.Int("messages", 100_000, "how many messages the instance of BenchmarkChats has")

// BenchmarkChats gets the first hundred of the chats of an instance with many messages, and a late page of its largest chat, one
// request after another.
func BenchmarkChats(b *testing.B) {
	const warmUp, requests = 20, 200
	w := startWorld(b, 1)
	w.gateway.Stop()
	opened := w.openStore(b)
	database.Fill(b, opened, w.instances[0], *messagesRead)
	if err := opened.Close(); err != nil {
		b.Fatal(err)
	}
	w.startGateway(b)
	w.awaitConnected(b)
	late := *messagesRead / 10 / 100 * 9 / 10
	for name, get := range cases.Sorted(map[string]func() (int, error){
		"chats": func() (int, error) {
			page, err := w.client.ListChats(b.Context(), w.instances[0], client.ListChatsParams{}, 1, 100)
			return len(page.Data), err
		},
		fmt.Sprint("page ", late): func() (int, error) {
			page, err := w.client.ListChatMessages(b.Context(), w.instances[0], string(database.Chat(0)), client.ListChatMessagesParams{}, late, 100)
			return len(page.Data), err
		},
	}) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				took, cpu := make([]time.Duration, requests), time.Duration(0)
				for n := range warmUp + requests {
					if n == warmUp {
						cpu = w.gateway.cpu(b)
					}
					began := time.Now()
					if items, err := get(); err != nil || items != 100 {
						b.Fatal(items, err)
					}
					took[max(0, n-warmUp)] = time.Since(began)
				}
				cpu = w.gateway.cpu(b) - cpu
				slices.Sort(took)
				b.ReportMetric(float64(took[requests/2].Microseconds())/1000, "p50-ms")
				b.ReportMetric(float64(took[requests*99/100].Microseconds())/1000, "p99-ms")
				b.ReportMetric(float64((cpu/requests).Microseconds())/1000, "cpu-ms/request")
				b.ReportMetric(0, "ns/op")
			}
		})
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
