package nodetest_test

import (
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit/await"
	"github.com/recado-project/recado/internal/testkit/phones"
	"github.com/recado-project/recado/internal/testkit/process"
	"github.com/recado-project/recado/internal/testkit/sink"
)

const secret = "a secret of the nodes alone"

// world is a sandbox, nodes on one database, and an endpoint for the webhooks.
type world struct {
	t           *testing.T
	program     string
	databaseURL string
	database    *pgxpool.Pool
	platform    []string // flags
	files       string   // folder
	key         string
	lease       time.Duration // of nodes that are started

	phones *phones.API
	sink   *sink.Sink
	nodes  []*node
	shops  []shop

	mu sync.Mutex
}

// node is a process of the gateway.
type node struct {
	*process.Process

	address   string
	advertise string // where the others reach it
	client    *client.Client
	flags     []string

	databaseURL      string   // as this node has it
	database         []*cable // one for each server
	platform, others *cable
	away             bool // the balancer sends nothing there
	asked            int  // requests that the balancer has sent there, and that are not answered
}

// shop is an instance, and the number that it is linked to.
type shop struct{ id, number string }

// newWorld starts a sandbox and nodes, and links instances, of which each node works for as many. A
// test that waits for the end of a lease has shortLease. One in which instances must stay where they
// are has usualLease: a short one ends by itself where the machine is busy.
func newWorld(t *testing.T, databaseURL string, nodes, shops int, lease time.Duration) *world {
	t.Helper()
	self := process.Program(t)
	w := &world{t: t, program: self, databaseURL: databaseURL, files: t.TempDir(), sink: sink.New(t)}
	var err error
	if w.database, err = pgxpool.New(t.Context(), databaseURL); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.database.Close)
	box := process.Start(t, self, "sandbox", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--log-level", "error")
	hint := strings.Fields(box.Await("A gateway on it: recado serve"))
	w.phones, w.platform = phones.New("http"+strings.TrimPrefix(hint[7], "ws")), hint[6:]
	w.key = w.command("keys", "create", "--name", "test", "--partner", "--database-url", databaseURL)
	// An instance that moves while it is linked has to be linked anew. So all are linked at the first
	// node, while it is alone and has the usual lease; the others get their share then.
	w.lease = usualLease
	first := w.add()
	var linking sync.WaitGroup
	for i := range shops {
		shop := w.create(fmt.Sprintf("55119999902%02d", i))
		linking.Go(func() { w.link(shop) })
	}
	linking.Wait()
	if t.Failed() {
		t.FailNow()
	}
	if w.lease = lease; lease != usualLease {
		first.Stop()
		w.start(first)
	}
	for range nodes - 1 {
		w.add()
	}
	for _, node := range w.nodes {
		await.Until(t, "the node has its share", func() bool { return len(w.ownedBy(node)) == shops/nodes })
	}
	for _, shop := range w.shops {
		w.awaitConnected(w.nodes[0], shop.id)
	}
	t.Cleanup(func() { http.DefaultTransport.(*http.Transport).CloseIdleConnections() })
	return w
}

// add starts a node and returns when it answers.
func (w *world) add() *node {
	w.t.Helper()
	n := &node{address: process.FreeAddress(w.t)}
	n.others = layCable(w.t, "tcp", n.address)
	n.advertise = "http://" + n.others.address()
	n.platform = layCable(w.t, "tcp", strings.TrimPrefix(w.platform[1], "ws://"))
	n.databaseURL, n.database = throughCable(w.t, w.databaseURL)
	n.flags = append([]string{
		"serve", "--listen", n.address, "--advertise", n.advertise, "--cluster-secret", secret,
		"--database-url", n.databaseURL, "--data", w.t.TempDir(), "--allow-private-urls", "--log-level", "warn",
		"--media-url", "file://" + w.files,
		w.platform[0], "ws://" + n.platform.address(),
	}, w.platform[2:]...)
	n.client = client.New("http://"+n.address, w.key)
	w.start(n)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.nodes = append(w.nodes, n)
	return n
}

func (w *world) start(n *node) {
	w.t.Helper()
	n.Process = process.Start(w.t, w.program, append(slices.Clone(n.flags), "--lease", w.lease.String())...)
	n.Await("recado ")
}

// command runs the program, waits for its end, and returns what it printed.
func (w *world) command(args ...string) string {
	w.t.Helper()
	output, err := exec.CommandContext(w.t.Context(), w.program, args...).Output()
	if err != nil {
		w.t.Fatalf("recado %s: %v", args[0], err)
	}
	return strings.TrimSpace(string(output))
}

// create makes an instance at the first node.
func (w *world) create(number string) shop {
	w.t.Helper()
	instance, err := w.nodes[0].client.CreateInstance(w.t.Context(), client.NewInstance{Name: number})
	if err != nil {
		w.t.Fatal(err)
	}
	made := shop{instance.InstanceID, number}
	w.shops = append(w.shops, made)
	return made
}

// link links an instance to its number at the first node, and gives it a webhook.
func (w *world) link(shop shop) {
	w.t.Helper()
	ctx, at := w.t.Context(), w.nodes[0]
	code, err := at.client.GetQRCode(ctx, shop.id, client.GetQRCodeParams{Format: client.FormatRaw})
	if err != nil {
		w.t.Error(err)
		return
	}
	w.phones.Scan(w.t, shop.number, code.QRCode)
	w.awaitConnected(at, shop.id)
	if _, err := at.client.SaveWebhookConfig(ctx, shop.id, client.NewWebhookConfig{WebhookURL: w.sink.URL}); err != nil {
		w.t.Error(err)
	}
}

// awaitConnected waits until a node says that an instance is connected.
func (w *world) awaitConnected(at *node, id string) {
	w.t.Helper()
	await.Until(w.t, "instance "+id+" is connected", func() bool {
		instance, err := at.client.GetInstance(w.t.Context(), id)
		return err == nil && instance.Status == "connected"
	})
}

// ownedBy returns the instances that a node works for, as the database has it.
func (w *world) ownedBy(n *node) []string {
	w.t.Helper()
	rows, err := w.database.Query(w.t.Context(),
		"SELECT t.instance_id FROM tenures t JOIN nodes n ON n.id = t.node WHERE n.address = $1 AND n.lease_until > now_ms() ORDER BY 1", n.advertise)
	if err != nil {
		w.t.Fatal(err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		w.t.Fatal(err)
	}
	return ids
}

// awaitRenewals waits until each of these nodes has renewed its lease so many times.
func (w *world) awaitRenewals(times int, nodes ...*node) {
	w.t.Helper()
	seen := map[*node]int64{} // when the lease ends
	renewed := map[*node]int{}
	await.Until(w.t, "the nodes renew their leases", func() bool {
		done := true
		for _, n := range nodes {
			var until int64
			if err := w.database.QueryRow(w.t.Context(), "SELECT coalesce(max(lease_until), 0) FROM nodes WHERE address = $1", n.advertise).Scan(&until); err != nil {
				w.t.Fatal(err)
			}
			if before, known := seen[n]; known && until > before {
				renewed[n]++
			}
			seen[n] = until
			done = done && renewed[n] >= times
		}
		return done
	})
}

// awaitElsewhere waits until instances are connected at other nodes than one, and returns how
// long it took.
func (w *world) awaitElsewhere(ids []string, than, at *node) time.Duration {
	w.t.Helper()
	began := time.Now()
	await.Until(w.t, "the instances have other owners", func() bool { return len(w.ownedBy(than)) == 0 })
	for _, id := range ids {
		w.awaitConnected(at, id)
	}
	return time.Since(began)
}
