// Package node makes several processes of the gateway share one database: each instance has one owner
// among them, which works for it under a tenure. A node has a lease, which it renews. Some time after the
// lease of a node has ended, the others take its instances over. Times of different nodes are compared by
// the clock of the database; a node judges itself by its own monotonic clock.
//
// The store, not this package, is what makes it safe: it refuses a write under a tenure that is over. This
// package makes sure that this rarely happens.
//
// A process that has the database to itself uses the package as well, without a Store: then it works for
// every instance from its start to its end.
package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/required"
)

// Timing says how long a lease lasts, and how often a node does what. A zero field means its default,
// which is a fraction of the lease.
type Timing struct {
	Lease time.Duration // of a node, from each renewal on (15 s)
	Grace time.Duration // after its lease, before its instances are taken over (a third of the lease: 5 s)
	Renew time.Duration // between two renewals (a fifth: 3 s)
	Look  time.Duration // between two searches for instances without an owner (a fifteenth: 1 s)
	// Patience is how long a node that can't renew its lease goes on; less than Lease (two
	// thirds: 10 s).
	Patience time.Duration
	// Drain is how long requests that are being answered may take when their instance is
	// handed over (a third: 5 s). A node that ends does not renew its lease meanwhile.
	Drain time.Duration
}

func (t Timing) withDefaults() Timing {
	t.Lease = cmp.Or(t.Lease, 15*time.Second)
	t.Grace = cmp.Or(t.Grace, t.Lease/3)
	t.Renew = cmp.Or(t.Renew, t.Lease/5)
	t.Look = cmp.Or(t.Look, t.Lease/15)
	t.Patience = cmp.Or(t.Patience, t.Lease*2/3)
	t.Drain = cmp.Or(t.Drain, t.Lease/3)
	return t
}

// batch is how many instances are taken over or handed over at once.
const batch = 200

// Store stores nodes and tenures. It has more than five methods, because they are one protocol.
type Store interface {
	AddNode(ctx context.Context, node gateway.Node) error
	RenewNode(ctx context.Context, id string, lease time.Duration) (known, draining bool, err error)
	RemoveNode(ctx context.Context, id string) error
	RemoveOtherNodes(ctx context.Context, id string) error
	RemoveDeadNodes(ctx context.Context, grace time.Duration) error
	ListNodes(ctx context.Context) ([]gateway.Node, error)
	CountInstances(ctx context.Context) (all int, err error)
	AnyFree(ctx context.Context, grace time.Duration) (free bool, err error)
	TenuresOf(ctx context.Context, node string) ([]gateway.Tenure, error)
	TakeTenures(ctx context.Context, node string, grace time.Duration, limit int) ([]gateway.Tenure, error)
	EndTenures(ctx context.Context, tenures []gateway.Tenure) error
	FindOwner(ctx context.Context, instanceID string) (owner gateway.Owner, found bool, err error)
	CurrentStatuses(ctx context.Context, instanceIDs []string) (map[string]bool, error)
}

// Instances lists the instances.
type Instances interface {
	AllInstances(ctx context.Context) ([]gateway.Instance, error)
}

// Part is something that works for instances. Both functions are called for several instances
// at a time, and never at the same time for the same one.
type Part struct {
	Name string // for the log
	// TakeUp begins to work for instances, and returns soon. After an error it is called again.
	TakeUp func(ctx context.Context, tenures []gateway.Tenure) error
	// LetGo ends the work. When it returns, the part does nothing more for the instances.
	// If ctx is over, the tenures are lost already: LetGo then waits for nothing and writes nothing.
	LetGo func(ctx context.Context, tenures []gateway.Tenure)
}

// Config is what a node stands on. The first part is required.
type Config struct {
	Instances Instances
	Logger    *slog.Logger

	// Store is nil for a process that has the database to itself and no nodes in it.
	Store Store
	// Address is where other nodes reach this one; empty for a node that is alone, which takes
	// over at once what others have left.
	Address string
	Version string
	// Secrets and Files are what the nodes must agree about (gateway.Node).
	Secrets []string
	Files   string
	Timing  Timing
	// Tell is called when instances were taken over or handed over, with their number; may be nil.
	Tell func(event Event, instances int)
}

// Event is something that happens to the instances of a node.
type Event string

// The events.
const (
	TakenOver  Event = "taken_over"
	HandedOver Event = "handed_over"
	Lost       Event = "lost" // the lease was over, or the database was away for too long
)

// Node is this process. It is safe for concurrent use.
type Node struct {
	config Config
	timing Timing
	parts  []Part
	ready  chan struct{}

	mu      sync.Mutex
	id      string // empty while the process is no node
	owned   map[string]*ownedInstance
	renewed time.Time // when the lease was renewed last, by this process's own clock
}

// New makes the node. It works for nothing before Run.
func New(config Config) (*Node, error) {
	if err := required.Check("node", config, "Store", "Tell"); err != nil {
		return nil, err
	}
	if config.Tell == nil {
		config.Tell = func(Event, int) {}
	}
	n := &Node{config: config, timing: config.Timing.withDefaults(), ready: make(chan struct{}), owned: map[string]*ownedInstance{}}
	if n.timing.Patience >= n.timing.Lease {
		return nil, errors.New("node: the patience must be shorter than the lease")
	}
	return n, nil
}

// Attach adds what works for instances, before Run. Parts are taken up in the order in which they were
// attached, and let go in reverse.
func (n *Node) Attach(parts ...Part) { n.parts = append(n.parts, parts...) }

// Ready is closed when the node works for all instances that it found at its start.
func (n *Node) Ready() <-chan struct{} { return n.ready }

// ID is the identifier of the node; empty while this process is no node.
func (n *Node) ID() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.id
}

// Run works for instances until ctx ends. Then it hands them over.
func (n *Node) Run(ctx context.Context) error {
	if n.config.Store == nil {
		return n.runAlone(ctx)
	}
	defer func() { n.leave(context.WithoutCancel(ctx)) }()
	err := n.join(ctx)
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return err
	}
	n.takeAtStart(ctx)
	close(n.ready)
	for {
		n.work(ctx)
		if ctx.Err() != nil {
			return nil
		}
		for err := n.join(ctx); err != nil && ctx.Err() == nil; err = n.join(ctx) {
			n.config.Logger.ErrorContext(ctx, "this node can't join the others; it is tried again", slog.Any("error", err))
			pause(ctx, n.timing.Look)
		}
	}
}

// runAlone works for all instances without asking anybody.
func (n *Node) runAlone(ctx context.Context) error {
	instances, err := n.config.Instances.AllInstances(ctx)
	if err != nil {
		return fmt.Errorf("node: %w", err)
	}
	tenures := make([]gateway.Tenure, len(instances))
	for i, instance := range instances {
		tenures[i].InstanceID = instance.ID
	}
	failed := n.takeUp(ctx, tenures)
	close(n.ready)
	for len(failed) > 0 && ctx.Err() == nil {
		pause(ctx, n.timing.Look)
		failed = n.takeUp(ctx, failed)
	}
	<-ctx.Done()
	n.letGo(context.WithoutCancel(ctx), n.all(), n.timing.Drain)
	return nil
}

// join makes this process a node, under a new identifier: what an earlier run of the program has left
// does not belong to it.
func (n *Node) join(ctx context.Context) error {
	name, err := os.Hostname()
	if err != nil {
		name = "unknown"
	}
	asked := now()
	id := uuid.NewString()
	err = n.config.Store.AddNode(ctx, gateway.Node{
		ID: id, Name: name, Address: n.config.Address, Version: n.config.Version, Lease: n.timing.Lease,
		Secrets: n.config.Secrets, Files: n.config.Files,
	})
	if err != nil {
		return fmt.Errorf("node: join: %w", err)
	}
	if n.config.Address == "" {
		// The caller has made sure that no other process works with the database.
		if err := n.config.Store.RemoveOtherNodes(ctx, id); err != nil {
			return fmt.Errorf("node: join: %w", err)
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.id, n.renewed = id, asked
	return nil
}

// leave hands all instances over and removes the node.
func (n *Node) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, n.timing.Lease)
	defer cancel()
	n.mu.Lock()
	id := n.id
	n.mu.Unlock()
	if id == "" {
		return
	}
	n.handOver(ctx, n.all())
	if err := n.config.Store.RemoveNode(ctx, id); err != nil {
		n.config.Logger.WarnContext(ctx, "this node could not say that it ends; the others find out later", slog.Any("error", err))
	}
}

// now is the time by which a node judges itself: only the time that passes counts.
func now() time.Time { return time.Now() } //nolint:forbidigo // see above

// pause waits for a time, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
