//go:build linux

package bench_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // its driver

	"github.com/recado-project/recado/e2e/powerloss/disk"
	"github.com/recado-project/recado/internal/testkit/crowd"
	"github.com/recado-project/recado/internal/testkit/postgres"
	"github.com/recado-project/recado/internal/testkit/process"
)

const (
	// measuredMessages are on an ordinary disk, countedPerRun on the one that counts, which
	// is slow.
	measuredMessages = 2000
	countedPerRun    = 1000
)

// BenchmarkCosts reports what a message costs until everything about it is done: sent, from
// one instance one after another or from 50 at once, and received, until it is at the webhook.
// CPU time and allocations are measured on an ordinary disk, then syncs, writes and round
// trips with fewer messages on a disk that counts. A sync takes no time there, so with many
// instances fewer messages share one than elsewhere. Bare whatsmeow, on SQLite, comes
// directly after the gateway each time.
func BenchmarkCosts(b *testing.B) {
	onSQLite := map[string]float64{} // CPU of a message, by what is measured
	for _, database := range []string{"SQLite", "PostgreSQL"} {
		for _, direction := range []struct {
			name    string
			gateway func(w *world, b *testing.B, each int) usage
			bare    func(r *bare, b *testing.B, each int) usage
			sandbox []string // flags
		}{
			{"sent", (*world).costsOfSending, (*bare).costsOfSending, []string{"--load"}},
			{"received", (*world).costsOfReceiving, (*bare).costsOfReceiving, nil},
		} {
			for _, instances := range []int{1, 50} {
				measured := fmt.Sprintf("%s/instances=%d", direction.name, instances)
				b.Run(database+"/"+measured, func(b *testing.B) {
					measure := func(counting bool, messages int) (gateway, bare usage) {
						w := startMeasuredWorld(b, database, instances, counting, direction.sandbox)
						gateway = direction.gateway(w, b, messages/instances)
						w.gateway.Stop()
						data, counters := measuredFolder(b, counting)
						r := startBare(b, instances, data, direction.sandbox...)
						r.counters = counters
						return gateway, direction.bare(r, b, messages/instances)
					}
					for b.Loop() {
						gateway, bare := measure(false, measuredMessages)
						countedGateway, countedBare := measure(true, countedPerRun)
						report(b, gateway, bare)
						gateway.reportServer(b, measured, onSQLite)
						countedGateway.reportCounts(b, "")
						countedBare.reportCounts(b, "bare-")
					}
				})
			}
		}
	}
}

// measuredFolder is a folder for data, and a function that says what was counted there.
func measuredFolder(b *testing.B, counting bool) (folder string, counters func() usage) {
	b.Helper()
	if !counting {
		return b.TempDir(), func() usage { return usage{} }
	}
	d := disk.Mount(b)
	return filepath.Join(d.Path, "data"), func() usage {
		counts := d.Counts()
		return usage{syncs: counts.Syncs, writes: counts.Writes, written: counts.Bytes}
	}
}

// startMeasuredWorld is startWorld with a gateway that says what it has allocated.
func startMeasuredWorld(b *testing.B, database string, instances int, counting bool, sandboxFlags []string) *world {
	b.Helper()
	w := &world{sandbox: startSandbox(b, sandboxFlags...), program: process.Build(b, "counted"), flags: []string{"--allow-private-urls"}}
	w.data, w.counters = measuredFolder(b, counting)
	if database == "PostgreSQL" {
		w.database = postgres.Start(b)
		if counting {
			through, trips := postgres.RoundTrips(b, w.database)
			onDisk := w.counters
			w.database, w.counters = through, func() usage {
				used := onDisk()
				used.trips = trips()
				return used
			}
		}
	}
	w.startGateway(b)
	for i := range instances {
		w.link(b, i)
	}
	w.awaitConnected(b)
	w.send(b, crowd.WarmUp, 1)
	return w
}

// serverCPU returns the CPU time that PostgreSQL's processes have used so far, the ended ones
// included.
func (w *world) serverCPU(b *testing.B) (used time.Duration) {
	b.Helper()
	if w.database == "" {
		return 0
	}
	db, err := sql.Open("pgx", w.database)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // nothing was written
	var backend int
	if err := db.QueryRowContext(b.Context(), "SELECT pg_backend_pid()").Scan(&backend); err != nil {
		b.Fatal(err)
	}
	server := statOf(b, backend).parent
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		b.Fatal(err)
	}
	for _, folder := range processes {
		pid, err := strconv.Atoi(filepath.Base(folder))
		if err != nil {
			b.Fatal(err)
		}
		switch s := statOf(b, pid); {
		case pid == server:
			used += s.used + s.usedByEnded
		case s.parent == server:
			used += s.used
		}
	}
	return used
}

// stat is what the kernel says about a process; zero if it has ended.
type stat struct {
	parent            int
	used, usedByEnded time.Duration // by itself, and by its children that have ended
}

// statOf reads proc(5): ppid, and the times in ticks of 10 ms.
func statOf(b *testing.B, pid int) stat {
	b.Helper()
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}
	}
	// The name in parentheses may contain blanks, so fields are counted after it.
	fields := strings.Fields(string(content[strings.LastIndexByte(string(content), ')')+1:]))
	number := func(n int) int {
		value, err := strconv.Atoi(fields[n])
		if err != nil {
			b.Fatal(err)
		}
		return value
	}
	ticks := func(n int) time.Duration { return time.Duration(number(n)) * 10 * time.Millisecond }
	return stat{parent: number(1), used: ticks(11) + ticks(12), usedByEnded: ticks(13) + ticks(14)}
}

// used is what the gateway has used since its start, and what was counted so far.
func (w *world) used(b *testing.B) usage {
	b.Helper()
	used := w.counters()
	used.cpu, used.serverCPU = w.gateway.cpu(b), w.serverCPU(b)
	used.allocations, used.allocated = w.gateway.allocations(b)
	return used
}

func (w *world) costsOfSending(b *testing.B, each int) usage {
	b.Helper()
	w.rest(b)
	before, began := w.used(b), time.Now()
	w.send(b, each, 1)
	elapsed := time.Since(began)
	w.rest(b)
	used := w.used(b).minus(before)
	used.messages, used.elapsed = each*len(w.instances), elapsed
	return used
}

func (w *world) costsOfReceiving(b *testing.B, each int) usage {
	b.Helper()
	arrived := w.countReceived(b)
	w.costsOfStart(b, crowd.WarmUp, arrived)
	base := w.costsOfStart(b, 1, arrived)
	return beyond(w.costsOfStart(b, each, arrived), base)
}

// costsOfStart is what a start costs with messages that wait.
func (w *world) costsOfStart(b *testing.B, each int, arrived *atomic.Int64) usage {
	b.Helper()
	w.gateway.Stop()
	before := w.counters()
	before.serverCPU = w.serverCPU(b)
	started := w.receive(b, each, arrived)
	w.rest(b)
	used := w.used(b).minus(before)
	used.messages, used.elapsed = started.messages, started.elapsed
	return used
}

func (r *bare) costsOfSending(b *testing.B, each int) usage {
	b.Helper()
	base := r.counted(func() usage { return r.send(b, 1, 1) })
	used := r.counted(func() usage { return r.send(b, each, 1) })
	return beyond(used, base)
}

func (r *bare) costsOfReceiving(b *testing.B, each int) usage {
	b.Helper()
	receive := func(each int) usage { return r.counted(func() usage { return r.receive(b, each) }) }
	receive(crowd.WarmUp)
	base := receive(1)
	return beyond(receive(each), base)
}

// counted adds to the usage of a run what was counted meanwhile.
func (r *bare) counted(run func() usage) usage {
	before := r.counters()
	used := run()
	on := r.counters().minus(before)
	used.syncs, used.writes, used.written = on.syncs, on.writes, on.written
	return used
}
