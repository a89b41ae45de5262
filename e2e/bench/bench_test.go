// Package bench measures the program as a whole. Gateway and sandbox are processes of their
// own, so the reported CPU time is the gateway's alone.
package bench_test

import (
	"context"
	"flag"
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
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit/crowd"
	"github.com/recado-project/recado/internal/testkit/process"
)

// messagesPerRun is high enough that start-up noise does not matter.
const messagesPerRun = 5000

//nolint:gochecknoglobals // flags of a test are registered before it runs
var gatewayPath = flag.String("gateway", "", "the program whose gateway is measured, such as that of a release; if empty, one is built")

// linkedAtOnce is how many instances are linked at a time.
const linkedAtOnce = 8

// BenchmarkSend sends texts through the API and then with bare whatsmeow, on the same kind
// of sandbox, whose phones do not decrypt: once with a store that waits for the disk as the gateway does,
// and once with sessions in memory. Rates are those of the sends; the CPU time is taken when everything that comes back was
// handled as well, which is until the phones have read the last message.
func BenchmarkSend(b *testing.B) {
	for _, load := range []struct {
		instances int
		senders   int // of each, at once
	}{{1, 1}, {1, 8}, {50, 1}} {
		b.Run(fmt.Sprintf("instances=%d/senders=%d", load.instances, load.senders), func(b *testing.B) {
			world := startWorld(b, load.instances)
			world.send(b, crowd.WarmUp, 1)
			bare := startBare(b, load.instances, b.TempDir(), "--load")
			each := messagesPerRun / load.instances / load.senders
			for b.Loop() {
				cpu, began := world.gateway.cpu(b), time.Now()
				world.send(b, each, load.senders)
				used := usage{messages: messagesPerRun, elapsed: time.Since(began)}
				world.rest(b)
				used.cpu = world.gateway.cpu(b) - cpu
				report(b, used, bare.send(b, each, load.senders))
				library := bare.sendFromMemory(b, each, load.senders)
				library.report(b, "library-")
				used.reportBeside(b, library, "times-library-cpu")
			}
		})
	}
}

// BenchmarkIdle links instances, starts the gateway again, and measures how long it takes
// until all are connected, and then what it needs while it is idle, beside bare whatsmeow
// with as many sessions.
func BenchmarkIdle(b *testing.B) {
	const (
		settle = 100 * time.Second // until everything of the start is done, and old events have been looked for once
		// mostBare is with how many sessions bare whatsmeow is measured, which links one after another.
		mostBare = 3000
		idle     = 2 * time.Minute // some rounds of keep-alives, and the one collection of memory that comes in any case
	)
	for _, instances := range []int{50, 500, 2000, 3000, 10_000} {
		b.Run(fmt.Sprintf("instances=%d", instances), func(b *testing.B) {
			for b.Loop() {
				world := startWorld(b, instances)
				world.gateway.Stop()
				began := time.Now()
				world.startGateway(b)
				world.awaitConnected(b)
				b.ReportMetric(time.Since(began).Seconds(), "s-to-connected")
				b.ReportMetric(float64(world.gateway.rss(b))/1e6, "MB-then")
				b.ReportMetric(float64(world.gateway.cpu(b).Microseconds())/1000/float64(instances), "cpu-ms-to-connected/instance")
				empty := startGateway(b, world.sandbox, b.TempDir())
				<-time.After(time.Second)
				b.ReportMetric(float64(empty.rss(b))/1e6, "MB-empty-after-a-second")
				<-time.After(settle)
				cpu := world.gateway.cpu(b)
				<-time.After(idle)
				rss, base := world.gateway.rss(b), empty.rss(b)
				own, baseOwn := world.gateway.ownMemory(b), empty.ownMemory(b)
				used := world.gateway.cpu(b) - cpu
				world.gateway.Stop()
				if instances <= mostBare {
					bare := startBare(b, instances, b.TempDir(), "--load").run(b, 0, "-idle", idle.String())
					b.ReportMetric(100*bare.cpu.Seconds()/idle.Seconds(), "bare-%-of-a-core")
				}
				b.ReportMetric(float64(own-baseOwn)/float64(instances)/1000, "KB/instance")
				b.ReportMetric(float64(base)/1e6, "MB-empty")
				b.ReportMetric(float64(baseOwn)/1e6, "MB-empty-own")
				b.ReportMetric(float64(rss)/1e6, "MB")
				b.ReportMetric(float64(own)/1e6, "MB-own")
				b.ReportMetric(100*used.Seconds()/idle.Seconds(), "%-of-a-core")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

// BenchmarkStart measures the time from a kill -9 to a connected instance, until `dev` is ready in
// a new folder, from the start of `serve` on existing data to its first answer, and what a command
// takes that does nothing.
func BenchmarkStart(b *testing.B) {
	program := measured(b)
	b.Run("version", func(b *testing.B) {
		for b.Loop() {
			if err := exec.CommandContext(b.Context(), program, "--version").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("serve", func(b *testing.B) {
		w := &world{sandbox: startSandbox(b, "--load"), data: b.TempDir()}
		w.startGateway(b)
		w.link(b, 0)
		for b.Loop() {
			b.StopTimer()
			w.gateway.Stop()
			b.StartTimer()
			gateway := startProgram(b, program, w.sandbox, "--data", w.data)
			answer, err := http.Get("http://" + gateway.address + "/api/instances")
			if err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			answer.Body.Close() //nolint:errcheck // nobody reads it
			w.gateway = gateway
			b.ReportMetric(float64(gateway.cpu(b).Milliseconds()), "cpu-ms-of-the-last")
			b.StartTimer()
		}
	})
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			data := b.TempDir()
			b.StartTimer()
			dev := process.Start(b, program, "dev", "--listen", "127.0.0.1:0", "--data", data, "--log-level", "error")
			dev.Await("Recado is ready")
			b.StopTimer()
			dev.Kill()
			b.StartTimer()
		}
	})
	b.Run("after a kill", func(b *testing.B) {
		data := b.TempDir()
		for b.Loop() {
			dev := process.Start(b, program, "dev", "--listen", "127.0.0.1:0", "--data", data, "--log-level", "error")
			dev.Await("Recado is ready")
			b.StopTimer()
			dev.Kill()
			b.StartTimer()
		}
	})
}

// world is a sandbox, a gateway on it, and its instances.
type world struct {
	sandbox   *server
	gateway   *server
	program   string // the gateway's; empty: the command recado
	data      string
	database  string       // URL of PostgreSQL; empty: SQLite
	flags     []string     // additional flags of the gateway
	keep      []string     // additional flags of every command on the data
	counters  func() usage // what was counted of the data so far; may be nil
	client    *client.Client
	instances []string
}

func startWorld(tb testing.TB, instances int, flags ...string) *world {
	tb.Helper()
	w := &world{sandbox: startSandbox(tb, "--load"), data: tb.TempDir(), flags: flags}
	w.startGateway(tb)
	w.instances = make([]string, instances)
	var linking errgroup.Group
	linking.SetLimit(linkedAtOnce)
	for i := range instances {
		linking.Go(func() (err error) {
			w.instances[i], err = w.linked(tb.Context(), i)
			return err
		})
	}
	if err := linking.Wait(); err != nil {
		tb.Fatal(err)
	}
	w.awaitConnected(tb)
	return w
}

// link makes instance i and links it to a phone of its own.
func (w *world) link(tb testing.TB, i int) {
	tb.Helper()
	id, err := w.linked(tb.Context(), i)
	if err != nil {
		tb.Fatal(err)
	}
	w.instances = append(w.instances, id)
}

// linked makes and links instance i, and returns its id.
func (w *world) linked(ctx context.Context, i int) (string, error) {
	instance, err := w.client.CreateInstance(ctx, client.NewInstance{Name: fmt.Sprintf("shop %d", i)})
	if err != nil {
		return "", err
	}
	code, err := w.client.GetQRCode(ctx, instance.InstanceID, client.GetQRCodeParams{Format: client.FormatRaw})
	if err != nil {
		return "", err
	}
	return instance.InstanceID, crowd.Scan(ctx, w.sandbox.address, crowd.Owner(i), code.QRCode)
}

// startGateway starts the gateway on the world's data, with a new key.
func (w *world) startGateway(tb testing.TB) {
	tb.Helper()
	if w.program == "" {
		w.program = measured(tb)
	}
	flags := append([]string{"--data", w.data}, w.keep...)
	if w.database != "" {
		flags = append(flags, "--database-url", w.database)
	}
	w.gateway = startProgram(tb, w.program, w.sandbox, append(flags, w.flags...)...)
	key, err := exec.CommandContext(tb.Context(), w.program,
		append([]string{"keys", "create", "--name", "bench", "--partner"}, flags...)...).Output()
	if err != nil {
		tb.Fatal(err)
	}
	w.client = client.New("http://"+w.gateway.address, strings.TrimSpace(string(key)), client.WithHTTPClient(keepingConnections(tb)))
}

// keepingConnections is a client that keeps as many connections as it uses at a time, as
// programs that send much do it. Go's own keeps two, and the rest would be the cost of opening
// connections.
func keepingConnections(tb testing.TB) *http.Client {
	tb.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 1000}
	tb.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// awaitConnected returns when all instances are connected. Those that are stay so, so the
// list is read from where it was not.
func (w *world) awaitConnected(tb testing.TB) {
	tb.Helper()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for page := 1; ; {
		list, err := w.client.ListInstances(tb.Context(), client.ListInstancesParams{}, page, 0)
		if err != nil {
			tb.Fatal(err)
		}
		if slices.ContainsFunc(list.Data, func(i client.Instance) bool { return i.Status != "connected" }) {
			<-ticker.C
			continue
		}
		if list.IsLastPage {
			return
		}
		page++
	}
}

// send sends from all instances at once. Each sender of each instance sends that many
// messages one after another.
func (w *world) send(tb testing.TB, messages, senders int) {
	tb.Helper()
	var group sync.WaitGroup
	for n := range len(w.instances) * senders {
		i := n % len(w.instances)
		group.Go(func() {
			for m := range messages {
				text := client.Text{To: crowd.Recipient(i), Message: fmt.Sprintf("message %d", m)}
				if _, err := w.client.SendText(tb.Context(), w.instances[i], text); err != nil {
					tb.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
}

// server is a process that was started here and listens at an address.
type server struct {
	*process.Process

	address string
}

// startSandbox starts a sandbox; with the flag --load its phones do not decrypt.
func startSandbox(tb testing.TB, flags ...string) *server {
	tb.Helper()
	box := &server{Process: process.Start(tb, process.Program(tb),
		append([]string{"sandbox", "--listen", "127.0.0.1:0", "--data", tb.TempDir()}, flags...)...)}
	line := box.Await("sandbox at http://")
	box.address, _, _ = strings.Cut(strings.TrimPrefix(line, "sandbox at http://"), "/")
	return box
}

func startGateway(tb testing.TB, sandbox *server, data string) *server {
	tb.Helper()
	return startProgram(tb, measured(tb), sandbox, "--data", data)
}

// measured returns the path of the program whose gateway is measured.
func measured(tb testing.TB) string {
	tb.Helper()
	if *gatewayPath != "" {
		return *gatewayPath
	}
	return process.Program(tb)
}

// startProgram starts a gateway from a program that was built before.
func startProgram(tb testing.TB, program string, sandbox *server, flags ...string) *server {
	tb.Helper()
	key, err := crowd.RootKey(tb.Context(), sandbox.address)
	if err != nil {
		tb.Fatal(err)
	}
	gateway := &server{Process: process.Start(tb, program, append([]string{
		"serve", "--listen", "127.0.0.1:0", "--log-level", "error",
		"--platform-url", "ws://" + sandbox.address, "--platform-key", fmt.Sprintf("%x", key),
	}, flags...)...)}
	fields := strings.Fields(gateway.Await("recado "))
	gateway.address = strings.TrimPrefix(strings.TrimSuffix(fields[4], ","), "http://")
	return gateway
}

// cpu returns the CPU time that the process has used so far (proc(5): utime and stime, in
// ticks of 10 ms).
func (s *server) cpu(tb testing.TB) time.Duration {
	tb.Helper()
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.PID()))
	if err != nil {
		tb.Skip("CPU of a process is read from /proc, as Linux has it")
	}
	// The name in parentheses may contain blanks, so fields are counted after it.
	fields := strings.Fields(string(content[strings.LastIndexByte(string(content), ')')+1:]))
	var ticks int64
	for _, field := range fields[11:13] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			tb.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// rss is the process's resident memory in bytes, with the parts of the program's file that it has touched:
// the kernel shares those, and takes them back when it needs memory. How many there are depends on
// what lies in the page cache.
func (s *server) rss(tb testing.TB) int64 {
	tb.Helper()
	return s.pages(tb, 1)
}

// ownMemory is the part of rss that is no file's.
func (s *server) ownMemory(tb testing.TB) int64 {
	tb.Helper()
	return s.pages(tb, 1) - s.pages(tb, 2) //nolint:mnd // resident, and of it shared: proc_pid_statm(5)
}

// pages is the size of a part of the process's memory in bytes, by its column in statm.
func (s *server) pages(tb testing.TB, column int) int64 {
	tb.Helper()
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", s.PID()))
	if err != nil {
		tb.Skip("memory of a process is read from /proc, as Linux has it")
	}
	pages, err := strconv.ParseInt(strings.Fields(string(content))[column], 10, 64)
	if err != nil {
		tb.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// BenchmarkDocument sends a document of 100 MB by its URL, and reports the largest growth
// of the gateway's memory.
func BenchmarkDocument(b *testing.B) {
	const size = 100_000_000
	w := &world{sandbox: startSandbox(b, "--load"), data: b.TempDir(), flags: []string{"--max-media", "200000000", "--allow-private-urls"}}
	w.startGateway(b)
	w.link(b, 0)
	w.awaitConnected(b)
	w.send(b, crowd.WarmUp, 1)
	files := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		http.ServeContent(rw, r, "large.bin", time.Time{}, io.NewSectionReader(zeros{}, 0, size))
	}))
	b.Cleanup(files.Close)
	before := w.gateway.rss(b)
	highest := before
	for b.Loop() {
		done := make(chan error, 1)
		go func() {
			_, err := w.client.SendDocument(b.Context(), w.instances[0], client.Document{
				To: crowd.Recipient(0), Document: files.URL + "/large.bin",
			})
			done <- err
		}()
		ticker := time.NewTicker(5 * time.Millisecond)
		for sent := false; !sent; {
			select {
			case err := <-done:
				if err != nil {
					b.Fatal(err)
				}
				sent = true
			case <-ticker.C:
				highest = max(highest, w.gateway.rss(b))
			}
		}
		ticker.Stop()
		b.ReportMetric(float64(highest-before)/1e6, "MB-more")
	}
}

// zeros is a file that contains only zeros.
type zeros struct{}

func (zeros) ReadAt(p []byte, _ int64) (int, error) {
	clear(p)
	return len(p), nil
}
