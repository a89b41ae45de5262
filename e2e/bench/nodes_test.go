package bench_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit/crowd"
	"github.com/recado-project/recado/internal/testkit/postgres"
	"github.com/recado-project/recado/internal/testkit/process"
)

// nodes are gateways on one PostgreSQL database.
type nodes struct {
	sandbox   *server
	gateways  []*server
	clients   []*client.Client
	instances []string
}

// startNodes starts that many nodes and links instances; alone is one process that has the
// database to itself.
func startNodes(tb testing.TB, count, instances int, alone bool) *nodes {
	tb.Helper()
	first := &world{sandbox: startSandbox(tb, "--load"), data: tb.TempDir(), database: postgres.Start(tb)}
	files := tb.TempDir()
	share := func(address string) []string {
		if alone {
			return nil
		}
		return []string{"--listen", address, "--advertise", "http://" + address, "--cluster-secret", "a secret of the nodes alone", "--media-url", "file://" + files}
	}
	first.flags = share(process.FreeAddress(tb))
	first.startGateway(tb)
	n := &nodes{sandbox: first.sandbox, gateways: []*server{first.gateway}, clients: []*client.Client{first.client}}
	for len(n.gateways) < count {
		more := &world{program: first.program, sandbox: first.sandbox, data: tb.TempDir(), database: first.database, flags: share(process.FreeAddress(tb))}
		more.startGateway(tb)
		n.gateways, n.clients = append(n.gateways, more.gateway), append(n.clients, more.client)
	}
	for i := range instances {
		maker := *first
		maker.client = n.clients[i%count]
		maker.link(tb, i)
		n.instances = append(n.instances, maker.instances[len(maker.instances)-1])
	}
	first.instances = n.instances
	first.awaitConnected(tb)
	return n
}

// send sends messages from each instance, by way of its owner, or else of one node after the
// other.
func (n *nodes) send(tb testing.TB, messages int, byOwner bool) {
	tb.Helper()
	var group sync.WaitGroup
	for i, id := range n.instances {
		group.Go(func() {
			for m := range messages {
				text := client.Text{To: crowd.Recipient(i), Message: fmt.Sprintf("message %d", m)}
				by := i
				if !byOwner {
					by += m
				}
				if _, err := n.clients[by%len(n.clients)].SendText(tb.Context(), id, text); err != nil {
					tb.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
}

// BenchmarkNodes sends texts through one process that has the database to itself, and through
// nodes that share it, on the same machine. Of requests that come to any node, two of three
// are passed on.
func BenchmarkNodes(b *testing.B) {
	for _, c := range []struct {
		name           string
		nodes          int
		alone, byOwner bool
	}{
		{"one alone", 1, true, true},
		{"one node", 1, false, true},
		{"three, by any", 3, false, false},
		{"three, by the owner", 3, false, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			const instances = 30
			n := startNodes(b, c.nodes, instances, c.alone)
			n.send(b, crowd.WarmUp/10, c.byOwner)
			cpu := func() (all time.Duration) {
				for _, gateway := range n.gateways {
					all += gateway.cpu(b)
				}
				return all
			}
			for b.Loop() {
				used, began := cpu(), time.Now()
				n.send(b, messagesPerRun/instances, c.byOwner)
				b.ReportMetric(float64(messagesPerRun)/time.Since(began).Seconds(), "messages/s")
				b.ReportMetric(float64((cpu()-used).Microseconds())/messagesPerRun, "µs-CPU/message")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

// BenchmarkForward asks the owner of an instance, and then a node that passes the request on,
// one after the other, and reports the middle of the times.
func BenchmarkForward(b *testing.B) {
	n := startNodes(b, 2, 1, false)
	const requests = 2000
	for b.Loop() {
		var middle [2]time.Duration
		for i, by := range n.clients {
			var took []time.Duration
			for range requests {
				began := time.Now()
				if _, err := by.GetLimits(b.Context(), n.instances[0]); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			middle[i] = took[requests/2]
		}
		b.ReportMetric(float64(min(middle[0], middle[1]).Microseconds()), "µs-owner-p50")
		b.ReportMetric(float64(max(middle[0], middle[1]).Microseconds()), "µs-other-p50")
		b.ReportMetric(0, "ns/op")
	}
}
