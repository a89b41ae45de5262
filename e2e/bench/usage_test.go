package bench_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/testkit/process"
)

// restTime is how long a gateway must do nothing until its work is done. Phones of a
// sandbox read a message after a second.
const restTime = 1500 * time.Millisecond

// usage is what a number of messages have taken.
type usage struct {
	messages     int
	elapsed, cpu time.Duration
	serverCPU    time.Duration // of the database's server, if it has one

	// The rest is zero where it was not counted.
	syncs, writes, written int64 // of the data folder's disk; written in bytes
	trips                  int64 // round trips to the database
	allocations, allocated int64 // allocated in bytes
}

// minus is what was used since before, or beyond what a start costs.
func (u usage) minus(before usage) usage {
	return usage{
		messages: u.messages - before.messages, elapsed: u.elapsed - before.elapsed, cpu: u.cpu - before.cpu,
		syncs: u.syncs - before.syncs, writes: u.writes - before.writes, written: u.written - before.written,
		serverCPU: u.serverCPU - before.serverCPU,
		trips:     u.trips - before.trips, allocations: u.allocations - before.allocations, allocated: u.allocated - before.allocated,
	}
}

// report reports what the gateway has used for a message beside bare whatsmeow.
func report(b *testing.B, gateway, bare usage) {
	b.Helper()
	gateway.report(b, "")
	bare.report(b, "bare-")
	gateway.reportBeside(b, bare, "times-bare-cpu")
	b.ReportMetric(0, "ns/op")
}

func (u usage) report(b *testing.B, whose string) {
	b.Helper()
	n := float64(u.messages)
	b.ReportMetric(n/u.elapsed.Seconds(), whose+"msg/s")
	b.ReportMetric(u.cpu.Seconds()*1000/n, whose+"cpu-ms/msg")
	if u.allocations != 0 {
		b.ReportMetric(float64(u.allocations)/n, whose+"allocs/msg")
		b.ReportMetric(float64(u.allocated)/1000/n, whose+"alloc-KB/msg")
	}
}

// reportServer reports the CPU of the database's server, and how many times the CPU on SQLite both
// have used for the same.
func (u usage) reportServer(b *testing.B, measured string, onSQLite map[string]float64) {
	b.Helper()
	whole := (u.cpu + u.serverCPU).Seconds() * 1000 / float64(u.messages)
	if u.serverCPU == 0 {
		onSQLite[measured] = whole
		return
	}
	b.ReportMetric(u.serverCPU.Seconds()*1000/float64(u.messages), "server-cpu-ms/msg")
	if sqlite := onSQLite[measured]; sqlite != 0 {
		b.ReportMetric(whole/sqlite, "times-sqlite-cpu")
	}
}

// reportCounts reports the calls.
func (u usage) reportCounts(b *testing.B, whose string) {
	b.Helper()
	n := float64(u.messages)
	b.ReportMetric(float64(u.syncs)/n, whose+"syncs/msg")
	b.ReportMetric(float64(u.writes)/n, whose+"writes/msg")
	b.ReportMetric(float64(u.written)/1000/n, whose+"written-KB/msg")
	if u.trips != 0 {
		b.ReportMetric(float64(u.trips)/n, whose+"roundtrips/msg")
	}
}

// bare is whatsmeow alone on a sandbox of its own. It runs only while it is measured.
type bare struct {
	sandbox   *server
	program   string
	data      string
	instances int
	runs      int          // that have received
	counters  func() usage // what was counted of the data so far; may be nil
}

// startBare links sessions, which send the first messages.
func startBare(b *testing.B, instances int, data string, sandboxFlags ...string) *bare {
	b.Helper()
	r := &bare{sandbox: startSandbox(b, sandboxFlags...), program: process.Build(b, "bare"), data: data, instances: instances}
	r.run(b, 0)
	return r
}

// send sends from all sessions at once. Each sender of each session sends that many
// messages.
func (r *bare) send(b *testing.B, each, senders int) usage {
	b.Helper()
	used := r.run(b, each, "-senders", strconv.Itoa(senders))
	used.messages *= senders
	return used
}

// sendFromMemory is send, with sessions that are kept in memory and never written: what the library itself
// costs.
func (r *bare) sendFromMemory(b *testing.B, each, senders int) usage {
	b.Helper()
	used := r.run(b, each, "-senders", strconv.Itoa(senders), "-memory")
	used.messages *= senders
	return used
}

// reportBeside reports how many times the CPU of another one the gateway has used for a message.
func (u usage) reportBeside(b *testing.B, other usage, name string) {
	b.Helper()
	b.ReportMetric(u.cpu.Seconds()/float64(u.messages)/(other.cpu.Seconds()/float64(other.messages)), name)
}

// receive makes phones write that many messages to each session, and then starts it.
func (r *bare) receive(b *testing.B, each int) usage {
	b.Helper()
	r.runs++
	text := fmt.Sprintf("run %d, ", r.runs)
	phonesWrite(b, r.sandbox, r.instances, each, text)
	return r.run(b, each, "-receive", text)
}

// run runs it until each sender has sent, or each session received, that many messages.
func (r *bare) run(b *testing.B, each int, flags ...string) usage {
	b.Helper()
	output, err := exec.CommandContext(b.Context(), r.program, append([]string{
		"-sandbox", r.sandbox.address, "-data", r.data, "-sessions", strconv.Itoa(r.instances), "-messages", strconv.Itoa(each),
	}, flags...)...).Output()
	if err != nil {
		b.Fatal(err)
	}
	var result struct {
		Seconds     float64 `json:"seconds"`
		CPUSeconds  float64 `json:"cpuSeconds"`
		Allocations int64   `json:"allocations"`
		Allocated   int64   `json:"allocated"`
	}
	lines := bytes.Split(bytes.TrimSpace(output), []byte("\n")) // the library may have printed something before
	if err := json.Unmarshal(lines[len(lines)-1], &result); err != nil {
		b.Fatalf("%v in %s", err, output)
	}
	if len(lines) > 1 {
		b.Logf("bare whatsmeow printed %s", bytes.Join(lines[:len(lines)-1], []byte("; ")))
	}
	return usage{
		messages: each * r.instances, elapsed: seconds(result.Seconds), cpu: seconds(result.CPUSeconds),
		allocations: result.Allocations, allocated: result.Allocated,
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// rest waits until the gateway has done everything that it has to do, and uses no CPU any
// more.
func (w *world) rest(b *testing.B) {
	b.Helper()
	const often, little = 100 * time.Millisecond, 20 * time.Millisecond
	ticker := time.NewTicker(often)
	defer ticker.Stop()
	at := w.gateway.cpu(b)
	for quiet := time.Duration(0); quiet < restTime; quiet += often {
		<-ticker.C
		if now := w.gateway.cpu(b); now-at > little {
			at, quiet = now, 0
		}
	}
}
