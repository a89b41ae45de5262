// The nodes of a database: which there are, and how one is emptied.

package data

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/cli/terminal"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store"
)

// NodesCommand works on the database that the nodes share.
type NodesCommand struct {
	List   listNodesCommand  `cmd:"" default:"withargs" help:"List the nodes."`
	Drain  drainNodeCommand  `cmd:"" help:"Make a node hand its instances over to the others and take no more; returns when it has none."`
	Resume resumeNodeCommand `cmd:"" help:"Let a drained node take instances again."`
}

// drainInterval is how often the command checks how many instances a node still has.
const drainInterval = time.Second / 2

// sharedFlags name the database that nodes share.
type sharedFlags struct{ Flags }

// ProvideStore opens the PostgreSQL database of nodes. Kong calls it for a Run method that takes a store.
func (f sharedFlags) ProvideStore(ctx context.Context, t terminal.Terminal, closers *Closers) (*store.Store, error) {
	if f.DatabaseURL == "" {
		return nil, terminal.WrongUsage("--database-url is missing: only processes that share a PostgreSQL database are nodes")
	}
	opened, err := f.open(ctx, t.Logger)
	if err == nil {
		closers.add(opened)
	}
	return opened, err
}

// shownNode is a node as JSON.
type shownNode struct {
	ID        string    `json:"id"`
	Machine   string    `json:"machine"`
	Address   string    `json:"address"`
	Version   string    `json:"version"`
	StartedAt time.Time `json:"startedAt"`
	State     string    `json:"state"`
	Instances int       `json:"instances"`
}

func stateOf(node gateway.Node) string {
	switch {
	case node.Lease <= 0:
		return "dead"
	case node.Draining:
		return "draining"
	default:
		return "alive"
	}
}

type listNodesCommand struct{ sharedFlags }

// Run lists the nodes in the order in which they started.
func (c listNodesCommand) Run(ctx context.Context, t terminal.Terminal, opened *store.Store) error {
	nodes, err := opened.Nodes.ListNodes(ctx)
	if err != nil {
		return err
	}
	shown := make([]shownNode, len(nodes))
	for i, n := range nodes {
		shown[i] = shownNode{
			ID: n.ID, Machine: n.Name, Address: n.Address, Version: n.Version, StartedAt: n.Started, State: stateOf(n), Instances: n.Instances,
		}
	}
	head := []string{"ID", "MACHINE", "ADDRESS", "VERSION", "STARTED", "STATE", "INSTANCES"}
	return terminal.Rows(t, shown, head, func(n shownNode) []string {
		started, instances := terminal.Moment(n.StartedAt), strconv.Itoa(n.Instances)
		return []string{n.ID, n.Machine, n.Address, n.Version, started, n.State, instances}
	})
}

// nodeFlags name a node.
type nodeFlags struct {
	sharedFlags
	Node string `arg:"" help:"The node: its id or the beginning of it, its machine, or its address."`
}

// find finds the node that is meant.
func (f nodeFlags) find(ctx context.Context, opened *store.Store) (gateway.Node, []gateway.Node, error) {
	nodes, err := opened.Nodes.ListNodes(ctx)
	if err != nil {
		return gateway.Node{}, nil, err
	}
	var found []gateway.Node
	for _, n := range nodes {
		if n.Name == f.Node || n.Address == f.Node || strings.HasPrefix(n.ID, f.Node) || strings.HasSuffix(n.Address, "://"+f.Node) {
			found = append(found, n)
		}
	}
	switch len(found) {
	case 0:
		return gateway.Node{}, nil, terminal.WrongUsage("there is no node %s: `recado nodes` lists them", f.Node)
	case 1:
		return found[0], nodes, nil
	default:
		return gateway.Node{}, nil, terminal.WrongUsage("%d nodes are called %s: choose one by its id, see `recado nodes`", len(found), f.Node)
	}
}

type drainNodeCommand struct{ nodeFlags }

// Run drains a node, and waits until it works for no instance.
func (c drainNodeCommand) Run(ctx context.Context, t terminal.Terminal, opened *store.Store) error {
	node, nodes, err := c.find(ctx, opened)
	if err != nil {
		return err
	}
	others := 0
	for _, n := range nodes {
		if n.ID != node.ID && stateOf(n) == "alive" {
			others++
		}
	}
	if others == 0 {
		return errors.New("there is no other node that could take its instances")
	}
	if _, err := opened.Nodes.DrainNode(ctx, node.ID, true); err != nil {
		return err
	}
	t.Notef("the node on %s hands over %d instances; interrupting this command does not interrupt it", node.Name, node.Instances)
	for left := node.Instances; left > 0; {
		timer := time.NewTimer(drainInterval)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
		tenures, err := opened.Nodes.TenuresOf(ctx, node.ID)
		if err != nil {
			return err
		}
		left = len(tenures)
	}
	return t.Done(map[string]any{"id": node.ID, "state": "drained"}, "The node on %s has no instances any more; it can be stopped.", node.Name)
}

type resumeNodeCommand struct{ nodeFlags }

// Run lets a node take instances again.
func (c resumeNodeCommand) Run(ctx context.Context, t terminal.Terminal, opened *store.Store) error {
	node, _, err := c.find(ctx, opened)
	if err != nil {
		return err
	}
	if _, err := opened.Nodes.DrainNode(ctx, node.ID, false); err != nil {
		return err
	}
	return t.Done(map[string]any{"id": node.ID, "state": "alive"}, "The node on %s takes instances again.", node.Name)
}
