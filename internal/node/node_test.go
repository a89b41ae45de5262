package node_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/node"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/await"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// quick is a timing for tests.
func quick() node.Timing {
	return node.Timing{
		Lease: 1500 * time.Millisecond, Grace: 300 * time.Millisecond, Renew: 100 * time.Millisecond, Look: 50 * time.Millisecond,
		Patience: time.Second, Drain: 100 * time.Millisecond,
	}
}

// flaky are the nodes of a store, which fail on demand.
type flaky struct {
	node.Store

	down atomic.Bool
}

var errDown = errors.New("down")

// RenewNode renews a lease, unless the store is down.
func (f *flaky) RenewNode(ctx context.Context, id string, lease time.Duration) (known, draining bool, err error) {
	if f.down.Load() {
		return false, false, errDown
	}
	return f.Store.RenewNode(ctx, id, lease)
}

// EndTenures ends tenures, unless the store is down.
func (f *flaky) EndTenures(ctx context.Context, tenures []gateway.Tenure) error {
	if f.down.Load() {
		return errDown
	}
	return f.Store.EndTenures(ctx, tenures)
}

// member is a node, and what its one part works for.
type member struct {
	*node.Node

	store *flaky
	stop  func()

	mu    sync.Mutex
	works map[string]gateway.Tenure
	fail  bool // the part
}

func (m *member) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.works)
}

// cluster is a database with instances.
type cluster struct {
	t       *testing.T
	url     string
	account string
	shared  *store.Store
}

func newCluster(t *testing.T, instances int) *cluster {
	t.Helper()
	c := &cluster{t: t, url: postgres.Start(t), account: uuid.NewString()}
	c.shared = c.open()
	if err := c.shared.CreateAccount(t.Context(), gateway.Account{ID: c.account, Name: c.account, CreatedAt: time.Now()}); err != nil {
		t.Fatal(err)
	}
	for range instances {
		if err := c.create(t.Context(), uuid.NewString()); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func (c *cluster) open() *store.Store {
	c.t.Helper()
	opened, err := store.Open(c.t.Context(), store.Config{URL: c.url, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = opened.Close() })
	return opened
}

func (c *cluster) create(ctx context.Context, id string) error {
	return c.shared.CreateInstance(ctx, gateway.Instance{
		ID: id, AccountID: c.account, Name: "shop", Status: gateway.StatusCreated, CreatedAt: time.Now(), UpdatedAt: time.Now(),
	})
}

// add starts a node; an address makes it one of several.
func (c *cluster) add(address string) *member {
	c.t.Helper()
	opened := c.open()
	m := &member{store: &flaky{Store: opened.Nodes}, works: map[string]gateway.Tenure{}}
	var err error
	m.Node, err = node.New(node.Config{
		Instances: opened, Store: m.store, Address: address, Logger: slog.New(slog.DiscardHandler), Timing: quick(),
	})
	if err != nil {
		c.t.Fatal(err)
	}
	m.Attach(node.Part{Name: "part", TakeUp: m.takeUp, LetGo: m.letGo})
	ctx, cancel := context.WithCancel(context.WithoutCancel(c.t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	m.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			c.t.Errorf("the node ended with %v", err)
		}
	})
	c.t.Cleanup(m.stop)
	<-m.Ready()
	return m
}

func (m *member) takeUp(_ context.Context, tenures []gateway.Tenure) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, tenure := range tenures {
		m.works[tenure.InstanceID] = tenure
	}
	if m.fail {
		return errDown
	}
	return nil
}

func (m *member) letGo(_ context.Context, tenures []gateway.Tenure) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, tenure := range tenures {
		delete(m.works, tenure.InstanceID)
	}
}

// Nodes share the instances, those of one that comes and those of one that goes too.
func TestShares(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 9)
	one := c.add("http://one")
	if one.count() != 9 || one.Owned() != 9 {
		t.Errorf("the first node is ready and works for %d instances", one.count())
	}
	two, three := c.add("http://two"), c.add("http://three")
	await.Until(t, "each has its share", func() bool { return one.count() == 3 && two.count() == 3 && three.count() == 3 })
	two.stop()
	await.Until(t, "the share of the one that has gone is taken", func() bool { return one.count()+three.count() == 9 })
	if nodes, err := c.shared.Nodes.ListNodes(t.Context()); err != nil || len(nodes) != 2 {
		t.Errorf("there are %+v (%v)", nodes, err)
	}
	id := uuid.NewString()
	if err := one.Create(t.Context(), id, func(ctx context.Context) error { return c.create(ctx, id) }); err != nil {
		t.Fatal(err)
	}
	if _, held := one.WithTenure(t.Context(), id); !held {
		t.Error("a node does not work for the instance that it has created")
	}
	if owner, found, err := c.shared.Nodes.FindOwner(t.Context(), id); err != nil || !found || owner.Tenure.Node != one.ID() || owner.Tenure.Epoch != 1 {
		t.Errorf("the owner is %+v %v (%v)", owner, found, err)
	}
}

// A drained node has nothing, and gets its share again when it is resumed.
func TestDrain(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 4)
	one, two := c.add("http://one"), c.add("http://two")
	await.Until(t, "each has its share", func() bool { return one.count() == 2 && two.count() == 2 })
	for _, drain := range []bool{true, false} {
		if found, err := c.shared.Nodes.DrainNode(t.Context(), one.ID(), drain); err != nil || !found {
			t.Fatalf("the node is found: %v (%v)", found, err)
		}
		want := map[bool]int{true: 0, false: 2}[drain]
		await.Until(t, "the node follows", func() bool { return one.count() == want && two.count() == 4-want })
	}
}

// A node that can't renew its lease lets everything go before another one takes it over, and
// becomes a node again with a new identifier.
func TestLeaseIsLost(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 4)
	one, two := c.add("http://one"), c.add("http://two")
	await.Until(t, "each has its share", func() bool { return one.count() == 2 && two.count() == 2 })
	before := one.ID()
	one.store.down.Store(true)
	await.Until(t, "it lets go", func() bool { return one.count() == 0 })
	one.store.down.Store(false)
	await.Until(t, "it is a node again", func() bool { return one.ID() != "" && one.ID() != before })
	await.Until(t, "each has its share again", func() bool { return one.count() == 2 && two.count() == 2 })
}

// Tenures whose end could not be written are found out.
func TestForgottenTenures(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	one := c.add("http://one")
	await.Until(t, "it has the instance", func() bool { return one.count() == 1 })
	// The instance is taken away behind its back, as if an end was not written.
	tenures, err := c.shared.Nodes.TenuresOf(t.Context(), one.ID())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.shared.Nodes.EndTenures(t.Context(), tenures); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "it takes the instance again, under a new tenure", func() bool {
		one.mu.Lock()
		defer one.mu.Unlock()
		tenure := one.works[tenures[0].InstanceID]
		return tenure.Epoch > tenures[0].Epoch
	})
}

// An instance that can't be taken up is left to others.
func TestTakingUpFails(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	one := c.add("http://one")
	one.mu.Lock()
	one.fail = true
	one.mu.Unlock()
	id := uuid.NewString()
	if err := c.create(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	two := c.add("http://two")
	await.Until(t, "the other one works for it", func() bool {
		_, held := two.WithTenure(t.Context(), id)
		return held
	})
}

// A process without nodes works for everything from its start to its end.
func TestAlone(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	m := &member{works: map[string]gateway.Tenure{}}
	alone, err := node.New(node.Config{
		Instances: c.shared, Logger: slog.New(slog.DiscardHandler), Timing: quick(),
	})
	if err != nil {
		t.Fatal(err)
	}
	alone.Attach(node.Part{Name: "part", TakeUp: m.takeUp, LetGo: m.letGo})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- alone.Run(ctx) }()
	<-alone.Ready()
	if _, held := alone.WithTenure(ctx, "anything"); !held || m.count() != 3 {
		t.Errorf("it works for %d instances", m.count())
	}
	cancel()
	if err := <-ended; err != nil || m.count() != 0 {
		t.Errorf("in the end it works for %d instances (%v)", m.count(), err)
	}
}

// Requests for an instance that is handed over are waited for, and then ended.
func TestHandingOverWaitsForRequests(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	one := c.add("http://one")
	tenures, err := c.shared.Nodes.TenuresOf(t.Context(), one.ID())
	if err != nil || len(tenures) != 1 {
		t.Fatalf("%v (%v)", tenures, err)
	}
	_, left, ok := one.Enter(t.Context(), tenures[0].InstanceID)
	if !ok {
		t.Fatal("a request is refused")
	}
	go one.stop()
	<-left.Leaving
	if _, _, ok := one.Enter(t.Context(), tenures[0].InstanceID); ok {
		t.Error("a request is let in although the instance is being handed over")
	}
	if one.count() != 1 {
		t.Error("the part is stopped before the request was answered")
	}
	<-left.Gone // it has taken too long
	left.Done()
	await.Until(t, "the part is stopped", func() bool { return one.count() == 0 })
}
