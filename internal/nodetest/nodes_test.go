package nodetest_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

// elsewhereWithin is how long it may take until the instances of a node that was killed are
// connected at others.
const elsewhereWithin = 25 * time.Second

// Whatever node a client talks to, it can do everything with every instance.
func TestAnyNodeTakesAnyRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, postgres.Start(t), 3, 6)
	for _, shop := range w.shops {
		for _, node := range w.nodes {
			sent, err := node.client.SendText(t.Context(), shop.id, client.Text{To: "5511988887766", Message: "olá"})
			if err != nil {
				t.Errorf("%s at %s: %v", shop.number, node.address, err)
				continue
			}
			w.phones.AwaitMessage(t, "5511988887766", sent.MessageID)
		}
	}
}

// A node is killed under load: its instances are connected elsewhere in time, and nothing is
// lost, doubled or reordered.
func TestNodeIsKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, postgres.Start(t), 3, 6)
	load := w.startLoad()
	time.Sleep(2 * time.Second)
	victim := w.nodes[0]
	ids := w.ownedBy(victim)
	w.setAway(victim, true)
	victim.Kill()
	took := w.awaitElsewhere(ids, victim, w.nodes[1])
	t.Logf("%d instances were connected elsewhere %.1f s after the kill", len(ids), took.Seconds())
	if took > elsewhereWithin || len(ids) == 0 {
		t.Errorf("it took %s for %d instances", took, len(ids))
	}
	time.Sleep(2 * time.Second)
	load.end()
}

// A node stands still for a minute and then goes on: it lets go of what others have by now,
// and becomes a node again.
func TestNodeStandsStill(t *testing.T) {
	t.Parallel()
	w := newWorld(t, postgres.Start(t), 3, 6)
	load := w.startLoad()
	time.Sleep(2 * time.Second)
	victim := w.nodes[0]
	ids := w.ownedBy(victim)
	w.setAway(victim, true)
	w.signal(victim, syscall.SIGSTOP)
	began := time.Now()
	took := w.awaitElsewhere(ids, victim, w.nodes[1])
	t.Logf("%d instances were connected elsewhere %.1f s after the stop", len(ids), took.Seconds())
	if took > elsewhereWithin {
		t.Errorf("it took %s", took)
	}
	time.Sleep(stillFor - time.Since(began))
	w.signal(victim, syscall.SIGCONT)
	w.setAway(victim, false)
	time.Sleep(10 * time.Second)
	load.end()
}

func (w *world) signal(n *node, signal syscall.Signal) {
	w.t.Helper()
	if err := syscall.Kill(n.PID(), signal); err != nil {
		w.t.Fatal(err)
	}
}
