package watchtest_test

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/instance"
	"github.com/recado-project/recado/internal/node"
	"github.com/recado-project/recado/internal/server"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/postgres"
	"github.com/recado-project/recado/internal/whatsapp"
)

// Of several nodes each shows which instances it works for, and what has moved. Together they
// have all.
func TestNodesAreSeen(t *testing.T) {
	t.Parallel()
	const instances = 6
	platform, database := testkit.Start(t, testkit.Options{}), postgres.Start(t)
	first, _ := startNode(t, database, platform)
	account, err := first.Server.Access().EnsureAccount(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	for range instances {
		if _, err := first.Server.Instances().Create(t.Context(), account.ID, instance.Draft{Name: "shop"}); err != nil {
			t.Fatal(err)
		}
	}
	second, stop := startNode(t, database, platform)
	const held, moved = "recado_instances_held", "recado_instances_moved_total"
	testkit.Await(t, "each node works for half of the instances", func() bool {
		old, young := scrape(t, first), scrape(t, second)
		return old.value(held) == instances/2 && old.value(moved, "event=handed_over") >= instances/2 &&
			young.value(held) == instances/2 && young.value(moved, "event=taken_over") >= instances/2
	})
	stop()
	var left families
	testkit.Await(t, "the node that is left works for all", func() bool {
		left = scrape(t, first)
		return left.value(held) == instances && left.value(moved, "event=taken_over") >= instances/2
	})
	if lost := left.value(moved, "event=lost"); lost != 0 {
		t.Errorf("%v instances were lost", lost)
	}
}

// startNode starts one of several nodes on a database, and stops it when the test ends.
func startNode(t *testing.T, database string, platform *testkit.Gateway) (_ *testkit.Gateway, stop func()) {
	t.Helper()
	address := freeAddress(t)
	key := platform.Server.Sandbox().RootKey()
	ctx, cancel := context.WithCancel(context.Background())
	s, err := server.New(ctx, server.Config{
		Listen: address, AdminListen: "127.0.0.1:0", DataDir: t.TempDir(), DatabaseURL: database, Logger: testkit.Logger(t), Version: "test",
		Platform: whatsapp.Config{PlatformURL: "ws://" + platform.BaseURL[len("http://"):], RootKey: &key},
		Cluster: server.Cluster{Advertise: "http://" + address, Secret: "a secret of the nodes alone", Timing: node.Timing{
			Renew: 200 * time.Millisecond, Look: 50 * time.Millisecond,
		}},
	})
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the node ended with %v", err)
		}
	})
	t.Cleanup(stop)
	g := &testkit.Gateway{BaseURL: s.BaseURL(), Server: s}
	testkit.Await(t, "the node is ready", func() bool {
		status, _ := get(t, s.AdminURL()+"/readyz")
		return status == http.StatusOK
	})
	return g, stop
}

// freeAddress finds a port that nobody has.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return listener.Addr().String()
}
