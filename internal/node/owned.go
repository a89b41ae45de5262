// The instances that this node works for, and the requests for each of them.

package node

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/node/forward"
)

// hold is an instance that this node works for.
type hold struct {
	tenure   gateway.Tenure
	closed   bool           // no request gets in: not yet, or not any more
	requests sync.WaitGroup // those that are being answered
	// left is closed when no new request gets in, gone when those that are still being answered
	// have to end.
	left, gone chan struct{}
}

// newHold is an instance that no request gets in for yet.
func newHold(tenure gateway.Tenure) *hold {
	return &hold{tenure: tenure, closed: true, left: make(chan struct{}), gone: make(chan struct{})}
}

// Hold returns a context for work for an instance, and whether this node works for it
// (gateway.Tenures).
func (n *Node) Hold(ctx context.Context, instanceID string) (context.Context, bool) {
	n.mu.Lock()
	held, ok := n.held[instanceID]
	n.mu.Unlock()
	if !ok {
		// A process without nodes works for everything, also before it has taken it up.
		return ctx, n.config.Store == nil
	}
	return gateway.WithTenure(ctx, held.tenure), true
}

// Enter is Hold for a request.
func (n *Node) Enter(ctx context.Context, instanceID string) (_ context.Context, left forward.Left, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	held, ok := n.held[instanceID]
	if !ok || held.closed {
		return ctx, forward.Left{}, false
	}
	held.requests.Add(1)
	return gateway.WithTenure(ctx, held.tenure), forward.Left{Done: held.requests.Done, Leaving: held.left, Gone: held.gone}, true
}

// Create calls create with a context under the first tenure of a new instance, and works for
// the instance if it succeeds.
func (n *Node) Create(ctx context.Context, instanceID string, create func(ctx context.Context) error) error {
	tenure := gateway.Tenure{InstanceID: instanceID}
	if n.config.Store != nil {
		n.mu.Lock()
		tenure.Node, tenure.Epoch = n.id, 1
		n.mu.Unlock()
		if tenure.Node == "" {
			return gateway.ErrTenureOver
		}
	}
	// It counts as held from now on, or reconcile would take it for forgotten.
	n.mu.Lock()
	n.held[instanceID] = newHold(tenure)
	n.mu.Unlock()
	if err := create(gateway.WithTenure(ctx, tenure)); err != nil {
		n.drop([]gateway.Tenure{tenure})
		return err
	}
	if tenure.Node != n.ID() { // which was lost meanwhile
		n.drop([]gateway.Tenure{tenure})
		return nil
	}
	for _, failed := range n.takeUp(ctx, []gateway.Tenure{tenure}) {
		n.giveBack(ctx, []gateway.Tenure{failed}) // somebody takes it up soon
	}
	return nil
}

// Forget ends the tenure of an instance that was deleted.
func (n *Node) Forget(instanceID string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.held, instanceID)
}

// StatusHolds returns those of the instances whose stored status was written by a node that
// works for them now, and is alive.
func (n *Node) StatusHolds(ctx context.Context, instanceIDs []string) (map[string]bool, error) {
	if n.config.Store == nil {
		return nil, nil
	}
	return n.config.Store.StatusHolds(ctx, instanceIDs)
}

// Shared reports whether other processes work with the same database.
func (n *Node) Shared() bool { return n.config.Store != nil && n.config.Address != "" }

// Contested reports whether this node still has a tenure that another node may have had before.
// A database that does not answer leaves it open; then it is not.
func (n *Node) Contested(ctx context.Context, tenure gateway.Tenure) bool {
	if !n.Shared() || !n.holds(tenure) {
		return false
	}
	owner, found, err := n.config.Store.FindOwner(ctx, tenure.InstanceID)
	return err == nil && found && owner.Tenure == tenure
}

// Held returns how many instances this node works for.
func (n *Node) Held() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.held)
}

// holds reports whether this node works under a tenure.
func (n *Node) holds(tenure gateway.Tenure) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	held := n.held[tenure.InstanceID]
	return held != nil && held.tenure == tenure
}

// between reports whether an instance is about to be taken up or let go.
func (n *Node) between(tenure gateway.Tenure) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	held := n.held[tenure.InstanceID]
	return held != nil && held.closed
}

// all returns the tenures of the instances that are not about to be taken up or let go.
func (n *Node) all() []gateway.Tenure {
	n.mu.Lock()
	defer n.mu.Unlock()
	tenures := make([]gateway.Tenure, 0, len(n.held))
	for _, held := range n.held {
		if !held.closed {
			tenures = append(tenures, held.tenure)
		}
	}
	return tenures
}

// takeUp makes all parts work for instances. It returns those that failed, for which none of
// the parts works.
func (n *Node) takeUp(ctx context.Context, tenures []gateway.Tenure) (failed []gateway.Tenure) {
	for some := range slices.Chunk(tenures, batch) {
		if n.takeUpBatch(ctx, some) {
			continue
		}
		// One that can't be taken up must not keep the others.
		for one := range slices.Chunk(some, 1) {
			if len(some) == 1 || ctx.Err() != nil || !n.takeUpBatch(ctx, one) {
				failed = append(failed, one...)
			}
		}
	}
	return failed
}

func (n *Node) takeUpBatch(ctx context.Context, tenures []gateway.Tenure) bool {
	n.mu.Lock()
	for _, tenure := range tenures {
		n.held[tenure.InstanceID] = newHold(tenure)
	}
	n.mu.Unlock()
	for _, part := range n.config.Parts {
		err := part.TakeUp(ctx, tenures)
		if err == nil {
			continue
		}
		if ctx.Err() == nil {
			n.config.Logger.ErrorContext(ctx, "instances not taken up; it is tried again",
				slog.String("part", part.Name), slog.Int("instances", len(tenures)), slog.Any("error", err))
		}
		for _, begun := range slices.Backward(n.config.Parts) {
			begun.LetGo(context.WithoutCancel(ctx), tenures)
		}
		n.drop(tenures)
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, tenure := range tenures {
		if held := n.held[tenure.InstanceID]; held != nil && held.tenure == tenure {
			held.closed = false
		}
	}
	return true
}

// letGo makes all parts stop working for instances: no request gets in any more, those that
// are being answered get some time, and then everything ends.
func (n *Node) letGo(ctx context.Context, tenures []gateway.Tenure, patience time.Duration) {
	if len(tenures) == 0 {
		return
	}
	n.shut(tenures, patience)
	for _, part := range slices.Backward(n.config.Parts) {
		part.LetGo(ctx, tenures)
	}
	n.drop(tenures)
}

// shut lets no request in any more, and waits for those that are being answered.
func (n *Node) shut(tenures []gateway.Tenure, patience time.Duration) {
	n.mu.Lock()
	var shut []*hold
	for _, tenure := range tenures {
		if held := n.held[tenure.InstanceID]; held != nil && !held.closed {
			held.closed = true
			close(held.left)
			shut = append(shut, held)
		}
	}
	n.mu.Unlock()
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		for _, held := range shut {
			held.requests.Wait()
		}
	}()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-answered:
	case <-timer.C:
	}
	for _, held := range shut {
		close(held.gone)
	}
}

func (n *Node) drop(tenures []gateway.Tenure) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, tenure := range tenures {
		if held := n.held[tenure.InstanceID]; held != nil && held.tenure == tenure {
			delete(n.held, tenure.InstanceID)
		}
	}
}
