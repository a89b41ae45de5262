// How a node renews its lease, takes instances over and hands over those beyond its share.

package node

import (
	"context"
	"log/slog"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

const (
	// balanceEvery: the node compares its share with the others' at every fifth search.
	balanceEvery = 5
	// reconcileEvery: it compares what it works for with its tenures at every sixtieth search.
	reconcileEvery = 60
	// handoverBatch is how many instances a node hands over at a time to reach its share:
	// their sessions are offline for a moment.
	handoverBatch = 50
)

// takeAtStart takes over what the node may take when it starts, so that it is ready with all of it. A node
// that is alone takes over everything.
func (n *Node) takeAtStart(ctx context.Context) {
	for ctx.Err() == nil {
		taken, err := n.takeOver(ctx)
		if err != nil {
			n.config.Logger.ErrorContext(ctx, "instances not taken over; it is tried again", slog.Any("error", err))
			return
		}
		if taken == 0 {
			return
		}
	}
}

// work renews the lease and keeps the share of this node until ctx ends or the lease is lost. When it
// returns because the lease was lost, it has let everything go, and the process is no longer a node.
func (n *Node) work(ctx context.Context) {
	renewing, stop := context.WithCancel(ctx)
	defer stop()
	answers := make(chan renewal, 1)
	go func() {
		defer close(answers)
		n.renew(renewing, answers)
	}()
	// A lost lease must be noticed in time even if the database does not answer.
	watch := time.NewTicker(min(n.timing.Patience/10, time.Second/2))
	defer watch.Stop()
	looking, lost := context.WithCancel(ctx)
	defer lost()
	looked := make(chan struct{})
	var draining bool
	drain := make(chan bool, 1)
	go func() {
		defer close(looked)
		n.look(looking, drain)
	}()
	defer func() {
		stop()
		lost()
		for range answers {
		}
		<-looked
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case answer, ok := <-answers:
			if !ok { // ctx has ended
				return
			}
			if !answer.known {
				n.lose(ctx, lost, looked, "the lease was over, and the others have taken the instances over")
				return
			}
			n.mu.Lock()
			n.renewed = answer.asked
			n.mu.Unlock()
			if answer.draining != draining {
				draining = answer.draining
				select {
				case <-drain:
				default:
				}
				drain <- draining
			}
		case <-watch.C:
			n.mu.Lock()
			silent := now().Sub(n.renewed)
			n.mu.Unlock()
			if silent > n.timing.Patience {
				n.lose(ctx, lost, looked, "the lease could not be renewed for too long")
				return
			}
		}
	}
}

// renewal is the answer to a renewal of the lease.
type renewal struct {
	asked           time.Time // the lease lasts from no earlier than this
	known, draining bool
}

// renew renews the lease until ctx ends.
func (n *Node) renew(ctx context.Context, answers chan<- renewal) {
	ticks := time.NewTicker(n.timing.Renew)
	defer ticks.Stop()
	for failed := false; ; {
		asked := now()
		// A renewal that gets no answer leaves time for another one, which may first have to find the
		// server that is left.
		limited, cancel := context.WithTimeout(ctx, n.timing.Patience/3)
		known, draining, err := n.config.Store.RenewNode(limited, n.ID(), n.timing.Lease)
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !failed:
			failed = true
			n.config.Logger.WarnContext(ctx, "the lease of this node is not renewed; it is tried again", slog.Any("error", err))
		case err == nil:
			failed = false
			select {
			case answers <- renewal{asked, known, draining}:
			case <-ctx.Done():
				return
			}
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return
		}
	}
}

// lose lets everything go at once and writes nothing: this node may be wrong about what it owns.
func (n *Node) lose(ctx context.Context, stopLooking func(), looked <-chan struct{}, why string) {
	stopLooking()
	tenures := n.all()
	n.config.Logger.ErrorContext(ctx, "this node lets its instances go", slog.String("reason", why), slog.Int("instances", len(tenures)))
	n.mu.Lock()
	old := n.id
	n.id = ""
	n.mu.Unlock()
	over, end := context.WithCancel(ctx)
	end()
	n.letGo(over, tenures, 0)
	// What was being taken up or let go is done by now.
	<-looked
	n.letGo(over, n.all(), 0)
	n.config.Tell(Lost, len(tenures))
	limited, cancel := context.WithTimeout(ctx, n.timing.Renew)
	defer cancel()
	// If it is still listed, nobody has to wait until it is removed.
	if err := n.config.Store.RemoveNode(limited, old); err != nil && ctx.Err() == nil {
		n.config.Logger.DebugContext(ctx, "the lost node is still listed", slog.Any("error", err))
	}
}

// look takes over instances without an owner, and hands over what is beyond the node's share, until ctx
// ends.
func (n *Node) look(ctx context.Context, drain <-chan bool) {
	ticks := time.NewTicker(n.timing.Look)
	defer ticks.Stop()
	draining := false
	for count := 1; ; count++ {
		select {
		case <-ctx.Done():
			return
		case draining = <-drain:
		case <-ticks.C:
		}
		var err error
		switch {
		case draining:
			n.handOver(ctx, first(n.all(), batch))
		case count%reconcileEvery == 0:
			err = n.reconcile(ctx)
		case count%balanceEvery == 0:
			err = n.balance(ctx)
		default:
			_, err = n.takeOver(ctx)
		}
		if err != nil && ctx.Err() == nil {
			n.config.Logger.WarnContext(ctx, "the instances of this node are as they were; it looks again", slog.Any("error", err))
		}
	}
}

// takeOver takes over a batch of instances without an owner, up to the share of this node, and returns how
// many there were.
func (n *Node) takeOver(ctx context.Context) (int, error) {
	free, err := n.config.Store.AnyFree(ctx, n.timing.Grace)
	if err != nil || !free {
		return 0, err
	}
	share, err := n.share(ctx)
	if err != nil {
		return 0, err
	}
	room := share - n.Owned()
	if room <= 0 {
		return 0, nil
	}
	taken, err := n.config.Store.TakeTenures(ctx, n.ID(), n.timing.Grace, min(room, batch))
	if err != nil || len(taken) == 0 {
		return 0, err
	}
	failed := n.takeUp(ctx, taken)
	n.giveBack(ctx, failed)
	n.config.Tell(TakenOver, len(taken)-len(failed))
	n.config.Logger.InfoContext(ctx, "instances taken over", slog.Int("instances", len(taken)-len(failed)), slog.Int("now", n.Owned()))
	return len(taken) - len(failed), nil
}

// share is how many of the instances this node should have at most.
func (n *Node) share(ctx context.Context) (int, error) {
	all, err := n.config.Store.CountInstances(ctx)
	if err != nil || n.config.Address == "" {
		return all, err
	}
	nodes, err := n.config.Store.ListNodes(ctx)
	if err != nil {
		return 0, err
	}
	alive := 0
	for _, node := range nodes {
		if node.Lease > 0 && !node.Draining {
			alive++
		}
	}
	if alive == 0 {
		return all, nil
	}
	return (all + alive - 1) / alive, nil
}

// balance hands over some of what this node has beyond its share.
func (n *Node) balance(ctx context.Context) error {
	if err := n.config.Store.RemoveDeadNodes(ctx, n.timing.Grace); err != nil {
		return err
	}
	share, err := n.share(ctx)
	if err != nil {
		return err
	}
	if surplus := n.Owned() - share; surplus > 0 {
		n.handOver(ctx, first(n.all(), min(surplus, handoverBatch)))
	}
	return nil
}

// reconcile ends tenures that the database still lists for this node, but that it does not work under, and
// lets instances go whose tenure is gone.
func (n *Node) reconcile(ctx context.Context) error {
	// The list of what is owned comes first, so that what is taken up meanwhile is not missing from it.
	owned := map[gateway.Tenure]bool{}
	for _, tenure := range n.all() {
		owned[tenure] = true
	}
	written, err := n.config.Store.TenuresOf(ctx, n.ID())
	if err != nil {
		return err
	}
	var forgotten []gateway.Tenure
	for _, tenure := range written {
		if !owned[tenure] && !n.owns(tenure) {
			forgotten = append(forgotten, tenure)
		}
		delete(owned, tenure)
	}
	n.giveBack(ctx, forgotten)
	var lost []gateway.Tenure
	for tenure := range owned {
		if n.owns(tenure) && !n.between(tenure) {
			lost = append(lost, tenure)
		}
	}
	if len(forgotten)+len(lost) > 0 {
		n.config.Logger.WarnContext(ctx, "tenures put right", slog.Int("without_work", len(forgotten)), slog.Int("lost", len(lost)))
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	n.letGo(over, lost, 0)
	return nil
}

// handOver lets instances go and leaves them to the others.
func (n *Node) handOver(ctx context.Context, tenures []gateway.Tenure) {
	if len(tenures) == 0 {
		return
	}
	n.letGo(ctx, tenures, n.timing.Drain)
	n.giveBack(ctx, tenures)
	n.config.Tell(HandedOver, len(tenures))
	n.config.Logger.InfoContext(ctx, "instances handed over", slog.Int("instances", len(tenures)), slog.Int("now", n.Owned()))
}

// giveBack ends tenures, so that another node can take the instances over at once.
func (n *Node) giveBack(ctx context.Context, tenures []gateway.Tenure) {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), n.timing.Renew)
	defer cancel()
	if err := n.config.Store.EndTenures(limited, tenures); err != nil {
		// They are this node's in the database, but nobody works for them.
		n.config.Logger.WarnContext(ctx, "the end of tenures is not written; it is found out later", slog.Any("error", err))
	}
}

func first(tenures []gateway.Tenure, most int) []gateway.Tenure {
	return tenures[:min(most, len(tenures))]
}
