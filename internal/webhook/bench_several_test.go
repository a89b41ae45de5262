package webhook_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/webhook"
)

// BenchmarkNineOfTenDead has ten webhooks on one instance, of which nine are dead: some
// refuse, some answer errors, some hang. It measures how long the tenth waits for its events,
// from the end of the append, at a hundred a second.
func BenchmarkNineOfTenDead(b *testing.B) {
	for _, dead := range []int{0, 9} {
		b.Run(fmt.Sprint(dead, " dead"), func(b *testing.B) {
			r := newRig(b, webhook.Config{AllowPrivateURLs: true, Schedule: webhook.Schedule{StopWait: time.Second}})
			id := r.instance()
			failing := receive(b, func(http.ResponseWriter, *http.Request, received) int { return http.StatusInternalServerError })
			for n := range dead {
				r.create(id, webhook.Settings{URL: []string{"http://127.0.0.1:1/", failing.server.URL, hanging(b, 10*time.Second)}[n%3]})
			}
			var appended sync.Map
			var mu sync.Mutex
			var took []time.Duration
			sound := count(b, b.N, func(request *http.Request) {
				at, ok := appended.Load(request.Header.Get("Webhook-Id"))
				mu.Lock()
				defer mu.Unlock()
				if ok {
					took = append(took, time.Since(at.(time.Time)))
				} else {
					took = append(took, 0) // it was here before the append had returned
				}
			})
			r.save(id, webhook.Settings{URL: sound.server.URL})
			tick := time.NewTicker(10 * time.Millisecond)
			defer tick.Stop()
			b.ResetTimer()
			for n := range b.N {
				<-tick.C
				event := payload(b, id, fmt.Sprint(n%20))
				r.check(r.log.Append(b.Context(), event))
				appended.Store(event.ID, time.Now())
			}
			<-sound.done
			b.StopTimer()
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}

// BenchmarkDestinations measures the processor time of the gateway's part for an event, from the
// append on: with one destination, with a second one, and with nine more whose filters leave
// everything out. The receivers are a process of their own.
func BenchmarkDestinations(b *testing.B) {
	presence := []eventlog.Kind{eventlog.KindPresence}
	for _, bench := range []struct {
		name          string
		all, filtered int
	}{{"none", 0, 0}, {"one", 1, 0}, {"two", 2, 0}, {"one and nine filters", 1, 9}} {
		b.Run(bench.name, func(b *testing.B) {
			receiver := startReceiver(b)
			r := newRig(b, webhook.Config{AllowPrivateURLs: true})
			id := r.instance()
			for range bench.all {
				r.create(id, webhook.Settings{URL: receiver + "/events"})
			}
			for range bench.filtered {
				r.create(id, webhook.Settings{URL: receiver + "/events", Events: &presence})
			}
			began := processorTime(b)
			b.ResetTimer()
			for n := 0; n < b.N; n += 50 {
				var events []eventlog.Event
				for i := n; i < min(n+50, b.N); i++ {
					events = append(events, payload(b, id, fmt.Sprint(i%20)))
				}
				r.check(r.log.Append(b.Context(), events...))
			}
			get(b, fmt.Sprintf("%s/await?count=%d", receiver, bench.all*b.N))
			b.StopTimer()
			b.ReportMetric(float64((processorTime(b)-began).Microseconds())/1000/float64(b.N), "cpu-ms/event")
		})
	}
}

// receiverVariable makes the test binary a receiver.
const receiverVariable = "RECADO_TEST_RECEIVER"

// startReceiver starts a receiver in a process of its own, and returns its URL.
func startReceiver(b *testing.B) (url string) {
	b.Helper()
	command := exec.CommandContext(b.Context(), os.Args[0])
	command.Env = append(os.Environ(), receiverVariable+"=1")
	output, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// serveAlone counts what comes, and says its URL.
func serveAlone() {
	var came int64
	more := sync.NewCond(&sync.Mutex{})
	mux := http.NewServeMux()
	mux.HandleFunc("POST /events", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		more.L.Lock()
		came++
		more.L.Unlock()
		more.Broadcast()
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("GET /await", func(_ http.ResponseWriter, r *http.Request) {
		want, _ := strconv.ParseInt(r.FormValue("count"), 10, 64)
		more.L.Lock()
		defer more.L.Unlock()
		for came < want {
			more.Wait()
		}
	})
	server := httptest.NewServer(mux)
	fmt.Println(server.URL)
	select {}
}

func get(b *testing.B, url string) {
	b.Helper()
	response, err := http.Get(url)
	if err != nil {
		b.Fatal(err)
	}
	_ = response.Body.Close()
}

// processorTime returns what the process has used.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
