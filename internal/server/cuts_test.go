package server_test

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/amount"
	"github.com/recado-project/recado/internal/whatsapp"
)

const (
	// warmUp is for what is made once: pools, prepared statements, buffers.
	warmUp = 50
	// heapSlack is the noise of a heap that is measured after a collection, slack
	// that of pools which grow to their bound when two things happen at once. One
	// of anything left behind by each cut would be twice as much, and fifty times in
	// the long run.
	heapSlack = 2 << 20
	slack     = 20
)

// A connection that is lost and made anew many times, a thousand in the long run,
// leaves nothing behind: no goroutine, no database connection or socket, no memory.
//
//nolint:paralleltest // it counts what the whole process has
func TestCutsLeaveNothingBehind(t *testing.T) {
	g := testkit.Start(t, testkit.Options{Platform: whatsapp.Config{
		ReconnectMin: time.Millisecond, ReconnectMax: time.Millisecond,
	}})
	id := g.Link(t, shopNumber)
	sendText(t, g, id, "before")
	for range warmUp {
		cut(t, g, id)
	}
	before := measure(t)
	for range amount.Of(40, 1000) {
		cut(t, g, id)
	}
	var after usage
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("before %+v, after %+v", before, after)
		}
	})
	testkit.Await(t, "goroutines and files to end", func() bool {
		after = measure(t)
		return after.goroutines <= before.goroutines+slack && after.files <= before.files+slack
	})
	t.Logf("before %+v, after %+v", before, after)
	if after.heap > before.heap+heapSlack {
		t.Errorf("the heap grew from %d to %d bytes", before.heap, after.heap)
	}
	sendText(t, g, id, "after")
}

// cut cuts the connection and waits until the session is back.
func cut(t *testing.T, g *testkit.Gateway, id string) {
	t.Helper()
	get := func() gateway.Instance {
		instance, err := g.Server.Instances().Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return instance
	}
	before := get()
	if err := g.Server.Sandbox().Sessions.Disconnect(t.Context(), shopNumber); err != nil {
		t.Fatal(err)
	}
	testkit.Await(t, "the connection to come back", func() bool {
		now := get()
		return now.Status == gateway.StatusConnected && now.UpdatedAt.After(before.UpdatedAt)
	})
}

// usage is what a process holds.
type usage struct {
	goroutines int
	files      int // open descriptors: sockets and database files
	heap       uint64
}

func measure(t *testing.T) usage {
	t.Helper()
	runtime.GC()
	runtime.GC() // the second one collects what finalisers held
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	u := usage{goroutines: runtime.NumGoroutine(), heap: memory.HeapAlloc}
	if entries, err := os.ReadDir("/proc/self/fd"); err == nil {
		u.files = len(entries)
	}
	return u
}
