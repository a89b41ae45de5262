package nodetest_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit/await"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

const (
	// usualLease is for how long nodes are believed that nobody tells otherwise.
	usualLease = 15 * time.Second
	// failedFor is how often the others renew their leases while a node fails: what they would
	// do at the end of its lease, they have done long before. healedFor is how often it renews
	// its own afterwards. There are five in the time of a lease; outlasting are more than that.
	failedFor, healedFor, outlasting = 20, 3, 7
)

// Whatever node a client talks to, it can do everything with every instance.
func TestAnyNodeTakesAnyRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, postgres.Start(t), 3, 6, usualLease)
	for _, shop := range w.shops {
		for _, node := range w.nodes {
			var sent client.Sent
			awaitTaken(t, func() (err error) {
				sent, err = node.client.SendText(t.Context(), shop.id, client.Text{To: "5511988887766", Message: "olá"})
				return err
			})
			w.phones.AwaitMessage(t, "5511988887766", sent.MessageID)
		}
	}
}

// What a node loses under load, and what it gets back. In all cases its instances are connected
// elsewhere in time, and nothing is lost, doubled or reordered.
func TestNodeFails(t *testing.T) {
	t.Parallel()
	for name, c := range cases.Sorted(map[string]struct {
		fail, heal func(w *world, n *node)
		stays      bool // it keeps its instances
		letsGo     bool // it closes its sessions by itself, before anybody else has them
	}{
		"killed": {
			fail: func(_ *world, n *node) { n.Kill() },
		},
		"stands still": {
			fail: func(w *world, n *node) { w.signal(n, syscall.SIGSTOP) },
			heal: func(w *world, n *node) { w.signal(n, syscall.SIGCONT) },
		},
		"cut off from the database": {
			fail:   func(_ *world, n *node) { n.database[0].pull(true) },
			heal:   func(_ *world, n *node) { n.database[0].pull(false) },
			letsGo: true,
		},
		"cut off from the platform": {
			fail:  func(_ *world, n *node) { n.platform.pull(true) },
			heal:  func(_ *world, n *node) { n.platform.pull(false) },
			stays: true,
		},
		"cut off from the other nodes": {
			fail:  func(_ *world, n *node) { n.others.pull(true) },
			heal:  func(_ *world, n *node) { n.others.pull(false) },
			stays: true,
		},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lease, renewals := shortLease, failedFor
			if c.stays {
				lease, renewals = usualLease, outlasting
			}
			w := newWorld(t, postgres.Start(t), 3, 6, lease)
			load := w.startLoad()
			load.advance(2)
			victim := w.nodes[0]
			ids := w.ownedBy(victim)
			if len(ids) == 0 {
				t.Fatal("the node works for nothing")
			}
			w.setAway(victim, !c.stays)
			began := time.Now()
			c.fail(w, victim)
			if c.letsGo {
				await.Until(t, "the node has let its sessions go", func() bool { return !victim.platform.hasSessions() })
				took := time.Since(began)
				t.Logf("the sessions were closed after %.1f s", took.Seconds())
				if took > letsGoWithin {
					t.Errorf("the sessions were closed after %s", took)
				}
			}
			if !c.stays {
				took := w.awaitElsewhere(ids, victim, w.nodes[1])
				t.Logf("%d instances were connected elsewhere after %.1f s", len(ids), took.Seconds())
				if took > elsewhereWithin {
					t.Errorf("it took %s", took)
				}
			}
			w.awaitRenewals(renewals, w.nodes[1:]...)
			if !c.stays {
				w.awaitSends()
			}
			if c.heal != nil {
				c.heal(w, victim)
				w.setAway(victim, false)
				w.awaitRenewals(healedFor, victim)
				await.Until(t, "the node has its share again", func() bool { return len(w.ownedBy(victim)) == len(ids) })
				load.advance(2)
			}
			if owned := w.ownedBy(victim); c.stays && !slices.Equal(owned, ids) {
				t.Errorf("the node works for %v, and for %v before", owned, ids)
			}
			load.end()
		})
	}
}

// Nodes are killed with kill -9 and started again at once, one after another and at random moments, while
// their instances are on the move because of the ones before.
func TestNodesAreKilledAgainAndAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, postgres.Start(t), 3, 6, 3*time.Second)
	load := w.startLoad()
	for n := range nodeKills {
		<-time.After(200*time.Millisecond + rand.N(4*time.Second)) // the moment is to be at random
		victim := w.nodes[n%len(w.nodes)]
		w.setAway(victim, true)
		victim.Kill()
		w.start(victim)
		w.setAway(victim, false)
	}
	w.awaitSends()
	load.advance(2)
	load.end()
	t.Logf("%d kills", nodeKills)
}

// A node is added under load and gets its share; one is drained, which takes its instances to
// the others; and then each is stopped and started again, one after another.
func TestNodesComeAndGo(t *testing.T) {
	t.Parallel()
	// No node fails here, so the lease outlasts what a busy machine holds a node up for: where one ends, a
	// message on its way is answered PLATFORM_TIMEOUT, and rightly so.
	w := newWorld(t, postgres.Start(t), 2, 6, usualLease)
	load := w.startLoad()
	third := w.add()
	await.Until(t, "the new node has its share", func() bool { return len(w.ownedBy(third)) == 2 })

	drained := w.nodes[0]
	w.command("nodes", "drain", strings.TrimPrefix(drained.advertise, "http://"), "--database-url", w.databaseURL)
	if owned := w.ownedBy(drained); len(owned) > 0 {
		t.Errorf("after it was drained, the node works for %v", owned)
	}
	if listed := w.command("nodes", "--database-url", w.databaseURL); strings.Count(listed, "draining") != 1 || strings.Count(listed, "alive") != 2 {
		t.Errorf("the nodes are listed as\n%s", listed)
	}
	w.command("nodes", "resume", strings.TrimPrefix(drained.advertise, "http://"), "--database-url", w.databaseURL)
	await.Until(t, "the node has its share again", func() bool { return len(w.ownedBy(drained)) == 2 })

	for _, node := range w.nodes {
		w.setAway(node, true)
		w.awaitAnswered(node) // who has not reached it yet would find nobody; what others pass on to it goes on
		node.Stop()
		w.start(node)
		w.setAway(node, false)
	}
	load.end()
	load.onlyWith("UNAVAILABLE") // 503 with Retry-After
}

// The server of the database crashes and is started again; is killed, and a synchronous standby takes its
// place; or its machine is gone without a word, and the standby takes its place. The nodes go on by
// themselves, and so do commands, with the address that names both servers.
func TestDatabaseFails(t *testing.T) {
	t.Parallel()
	for name, c := range cases.Sorted(map[string]struct {
		start  func(testing.TB) (string, func())
		nodes  int
		silent bool // nothing comes from the machine of the first server any more
		within time.Duration
	}{
		"crashes":                    {start: postgres.StartOwn, nodes: 3, within: goesOnWithin},
		"is replaced by its standby": {start: postgres.StartPair, nodes: 2, within: goesOnWithin},
		"is gone without a word, and replaced by its standby": {start: postgres.StartPair, nodes: 2, silent: true, within: goneWithin},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, fail := c.start(t)
			// The lease outlasts what happens, as it does where it is the usual one.
			w := newWorld(t, url, c.nodes, 6, usualLease)
			load := w.startLoad()
			load.advance(2)
			for _, node := range w.nodes {
				node.database[0].pull(c.silent)
			}
			fail()
			began := time.Now()
			w.awaitSends()
			took := time.Since(began)
			t.Logf("every instance sends again after %.1f s", took.Seconds())
			if took > c.within {
				t.Errorf("it took %s until every instance sent again", took)
			}
			load.advance(2)
			load.end()
			if listed := w.command("nodes", "--database-url", w.nodes[0].databaseURL); strings.Count(listed, "alive") != c.nodes {
				t.Errorf("the nodes are listed as\n%s", listed)
			}
			w.command("backup", t.TempDir(), "--verify", "--database-url", w.nodes[0].databaseURL, "--media-url", "file://"+w.files)
		})
	}
}

// The connections to the database carry nothing any more, and are never closed, as when its address
// has moved to another machine; new ones work. The nodes keep their instances.
func TestDatabaseMoves(t *testing.T) {
	t.Parallel()
	w := newWorld(t, postgres.Start(t), 2, 6, usualLease)
	load := w.startLoad()
	load.advance(2)
	before := [][]string{w.ownedBy(w.nodes[0]), w.ownedBy(w.nodes[1])}
	for _, node := range w.nodes {
		node.database[0].forget()
	}
	began := time.Now()
	w.awaitSends()
	took := time.Since(began)
	t.Logf("every instance sends again after %.1f s", took.Seconds())
	if took > movedWithin {
		t.Errorf("it took %s until every instance sent again", took)
	}
	load.advance(2)
	for i, node := range w.nodes {
		if owned := w.ownedBy(node); !slices.Equal(owned, before[i]) {
			t.Errorf("a node works for %v, and for %v before", owned, before[i])
		}
	}
	load.end()
}

// awaitTaken waits until a node takes a request. Instances are spread over the nodes when these start:
// a request that meets one on its way is told to come again.
func awaitTaken(t *testing.T, request func() error) {
	t.Helper()
	await.Until(t, "a node takes the request", func() bool {
		err := request()
		if refusal, ok := errors.AsType[*client.Error](err); ok && refusal.RetryAfter > 0 {
			return false
		}
		if err != nil {
			t.Fatal(err)
		}
		return true
	})
}

// awaitSends waits until every instance sends.
func (w *world) awaitSends() {
	w.t.Helper()
	for _, shop := range w.shops {
		await.Until(w.t, "a message is accepted", func() bool {
			node := w.ask()
			defer w.answered(node)
			_, err := node.client.SendText(w.t.Context(), shop.id, client.Text{To: "5511988887766", Message: "olá"})
			return err == nil
		})
	}
}

func (w *world) signal(n *node, signal syscall.Signal) {
	w.t.Helper()
	if err := syscall.Kill(n.PID(), signal); err != nil {
		w.t.Fatal(err)
	}
}
