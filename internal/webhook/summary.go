// How many webhooks are doing at once.

package webhook

import (
	"context"
	"fmt"
)

// Conditions returns how the deliveries of all webhooks of instances are doing, by instance,
// oldest first: as Condition does, but without OldestPendingAt, and from memory. There are
// none while the service does not run. Those of instances that another node works for are as
// it has saved them last.
func (s *Service) Conditions(ctx context.Context, instanceIDs []string) (map[string][]Condition, error) {
	conditions := make(map[string][]Condition, len(instanceIDs))
	var elsewhere []string
	for _, id := range instanceIDs {
		s.mu.RLock()
		pumps := s.pumps[id]
		s.mu.RUnlock()
		for _, p := range pumps {
			if p.configured() {
				conditions[id] = append(conditions[id], p.condition())
			}
		}
		if len(conditions[id]) > 0 {
			continue
		}
		if _, here := s.tenures.WithTenure(ctx, id); !here {
			elsewhere = append(elsewhere, id)
		}
	}
	if len(elsewhere) == 0 {
		return conditions, nil
	}
	all, err := s.store.Webhooks(ctx, elsewhere)
	if err != nil {
		return nil, fmt.Errorf("webhook: conditions: %w", err)
	}
	for _, saved := range all {
		condition := Condition{Flow: FlowInactive}
		if saved.Webhook.Active {
			condition = newCondition(Health{State: saved.State, Newest: saved.Newest, BlockedChats: len(saved.Blocked)})
		}
		conditions[saved.Webhook.InstanceID] = append(conditions[saved.Webhook.InstanceID], condition)
	}
	return conditions, nil
}

// Summary is how all webhooks together are doing.
type Summary struct {
	Flows   map[Flow]int // how many there are of each
	Pending int64        // events that are still to be delivered
}

// Summarize sums the webhooks of all instances up, from memory.
func (s *Service) Summarize() Summary {
	summary := Summary{Flows: map[Flow]int{}}
	for _, p := range s.all() {
		if p.configured() {
			condition := p.condition()
			summary.Flows[condition.Flow]++
			summary.Pending += condition.Pending
		}
	}
	return summary
}

// condition is how the delivery is doing, as far as it is known without the log.
func (p *pump) condition() Condition {
	if !p.isActive() {
		return Condition{Flow: FlowInactive}
	}
	return newCondition(p.health())
}
