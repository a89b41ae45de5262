// How many webhooks are doing at once.

package webhook

// Conditions returns how the deliveries of those of the instances that have a webhook are
// doing: as Condition does, but without OldestPendingAt, and from memory. There are none
// while the service does not run.
func (s *Service) Conditions(instanceIDs []string) map[string]Condition {
	conditions := make(map[string]Condition, len(instanceIDs))
	for _, id := range instanceIDs {
		if p, ok := s.pump(id); ok {
			conditions[id] = p.condition()
		}
	}
	return conditions
}

// Summary is how all webhooks together are doing.
type Summary struct {
	Flows   map[Flow]int // how many there are of each
	Pending int64        // events that are still to be delivered
}

// Summarize sums the webhooks of all instances up, from memory.
func (s *Service) Summarize() Summary {
	s.mu.RLock()
	pumps := make([]*pump, 0, len(s.pumps))
	for _, p := range s.pumps {
		pumps = append(pumps, p)
	}
	s.mu.RUnlock()
	summary := Summary{Flows: map[Flow]int{}}
	for _, p := range pumps {
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
