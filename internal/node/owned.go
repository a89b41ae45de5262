// The instances that this node owns, and the requests for each of them.

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

// ownedInstance is an instance that this node works for.
type ownedInstance struct {
	tenure   gateway.Tenure
	closed   bool           // no request gets in: the instance is being taken up or let go
	requests sync.WaitGroup // those that are being answered
	// left is closed when no new request gets in any longer, gone when those that are still being
	// answered have to end.
	left, gone chan struct{}
}

// newOwned returns an instance that is being taken up.
func newOwned(tenure gateway.Tenure) *ownedInstance {
	return &ownedInstance{tenure: tenure, closed: true, left: make(chan struct{}), gone: make(chan struct{})}
}

// WithTenure returns a context for work for an instance, and whether this node works for it
// (gateway.Tenures).
func (n *Node) WithTenure(ctx context.Context, instanceID string) (context.Context, bool) {
	n.mu.Lock()
	owned, ok := n.owned[instanceID]
	n.mu.Unlock()
	if !ok {
		// A process without nodes works for every instance, even before it has taken it up.
		return ctx, n.config.Store == nil
	}
	return gateway.WithTenure(ctx, owned.tenure), true
}

// Enter is WithTenure for a request.
func (n *Node) Enter(ctx context.Context, instanceID string) (_ context.Context, left forward.Left, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	owned, ok := n.owned[instanceID]
	if !ok || owned.closed {
		return ctx, forward.Left{}, false
	}
	owned.requests.Add(1)
	return gateway.WithTenure(ctx, owned.tenure), forward.Left{Done: owned.requests.Done, Leaving: owned.left, Gone: owned.gone}, true
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
	// It counts as owned from now on; otherwise reconcile would give it back.
	n.mu.Lock()
	n.owned[instanceID] = newOwned(tenure)
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

// Forget drops an instance that was deleted.
func (n *Node) Forget(instanceID string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.owned, instanceID)
}

// CurrentStatuses returns those of the instances whose stored status was written by a node that
// works for them now, and is alive.
func (n *Node) CurrentStatuses(ctx context.Context, instanceIDs []string) (map[string]bool, error) {
	if n.config.Store == nil {
		return nil, nil
	}
	return n.config.Store.CurrentStatuses(ctx, instanceIDs)
}

// Shared reports whether other processes work with the same database.
func (n *Node) Shared() bool { return n.config.Store != nil && n.config.Address != "" }

// Contested reports whether another node may have had an instance before this node, which still has the
// tenure. It returns false if the database does not answer.
func (n *Node) Contested(ctx context.Context, tenure gateway.Tenure) bool {
	if !n.Shared() || !n.owns(tenure) {
		return false
	}
	owner, found, err := n.config.Store.FindOwner(ctx, tenure.InstanceID)
	return err == nil && found && owner.Tenure == tenure
}

// Owned returns how many instances this node works for.
func (n *Node) Owned() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.owned)
}

// owns reports whether this node works under a tenure.
func (n *Node) owns(tenure gateway.Tenure) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	owned := n.owned[tenure.InstanceID]
	return owned != nil && owned.tenure == tenure
}

// between reports whether an instance is about to be taken up or let go.
func (n *Node) between(tenure gateway.Tenure) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	owned := n.owned[tenure.InstanceID]
	return owned != nil && owned.closed
}

// all returns the tenures of the instances that are not about to be taken up or let go.
func (n *Node) all() []gateway.Tenure {
	n.mu.Lock()
	defer n.mu.Unlock()
	tenures := make([]gateway.Tenure, 0, len(n.owned))
	for _, owned := range n.owned {
		if !owned.closed {
			tenures = append(tenures, owned.tenure)
		}
	}
	return tenures
}

// takeUp makes all parts work for instances. It returns those for which a part failed; no part works
// for them.
func (n *Node) takeUp(ctx context.Context, tenures []gateway.Tenure) (failed []gateway.Tenure) {
	for some := range slices.Chunk(tenures, batch) {
		if n.takeUpBatch(ctx, some) {
			continue
		}
		// An instance that can't be taken up must not hold up the others.
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
		n.owned[tenure.InstanceID] = newOwned(tenure)
	}
	n.mu.Unlock()
	for _, part := range n.parts {
		err := part.TakeUp(ctx, tenures)
		if err == nil {
			continue
		}
		if ctx.Err() == nil {
			n.config.Logger.ErrorContext(ctx, "instances not taken up; it is tried again",
				slog.String("part", part.Name), slog.Int("instances", len(tenures)), slog.Any("error", err))
		}
		for _, begun := range slices.Backward(n.parts) {
			begun.LetGo(context.WithoutCancel(ctx), tenures)
		}
		n.drop(tenures)
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, tenure := range tenures {
		if owned := n.owned[tenure.InstanceID]; owned != nil && owned.tenure == tenure {
			owned.closed = false
		}
	}
	return true
}

// letGo makes all parts stop working for instances: it lets no new request in, gives those that are being
// answered some time, and then ends everything.
func (n *Node) letGo(ctx context.Context, tenures []gateway.Tenure, patience time.Duration) {
	if len(tenures) == 0 {
		return
	}
	n.shut(tenures, patience)
	for _, part := range slices.Backward(n.parts) {
		part.LetGo(ctx, tenures)
	}
	n.drop(tenures)
}

// shut lets no new request in, and waits for those that are being answered.
func (n *Node) shut(tenures []gateway.Tenure, patience time.Duration) {
	n.mu.Lock()
	var shut []*ownedInstance
	for _, tenure := range tenures {
		if owned := n.owned[tenure.InstanceID]; owned != nil && !owned.closed {
			owned.closed = true
			close(owned.left)
			shut = append(shut, owned)
		}
	}
	n.mu.Unlock()
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		for _, owned := range shut {
			owned.requests.Wait()
		}
	}()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-answered:
	case <-timer.C:
	}
	for _, owned := range shut {
		close(owned.gone)
	}
}

func (n *Node) drop(tenures []gateway.Tenure) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, tenure := range tenures {
		if owned := n.owned[tenure.InstanceID]; owned != nil && owned.tenure == tenure {
			delete(n.owned, tenure.InstanceID)
		}
	}
}
