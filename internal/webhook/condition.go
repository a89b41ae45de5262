package webhook

import (
	"context"
	"fmt"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/webhook/backlog"
)

// Flow is the state of a delivery in one word.
type Flow string

// How a delivery can be doing.
const (
	FlowFlowing   Flow = "flowing"
	FlowWaiting   Flow = "waiting"   // the endpoint failed, and is tried again
	FlowSuspended Flow = "suspended" // it is not tried any more until it is saved or resumed
	FlowInactive  Flow = "inactive"  // the webhook gets no events
)

// Condition is how the delivery of a webhook is doing.
type Condition struct {
	Flow   Flow
	Until  time.Time // when the endpoint is tried again; zero: it does not wait
	Since  time.Time // since when it fails; zero: it does not
	Reason string    // why it waits or is suspended
	// Pending counts the events that are still to be delivered. A blocked chat counts
	// as one.
	Pending         int64
	OldestPendingAt time.Time // when the oldest of them happened; zero where there is none
}

// Condition returns how the delivery of a webhook is doing, or a
// gateway.NotFound.
func (s *Service) Condition(ctx context.Context, ref Ref) (Condition, error) {
	p, ok := s.pump(ref)
	if !ok {
		found, err := s.Get(ctx, ref)
		if err != nil || !found.Active {
			return Condition{Flow: FlowInactive}, err
		}
		return Condition{Flow: FlowWaiting, Reason: "webhooks are not being delivered at the moment"}, nil
	}
	condition := p.condition()
	if condition.Pending == 0 {
		return condition, nil
	}
	through, _ := p.delivered()
	events, err := s.log.Read(ctx, ref.InstanceID, through, 1)
	if err != nil {
		return Condition{}, fmt.Errorf("webhook: condition: %w", err)
	}
	if len(events) > 0 {
		condition.OldestPendingAt = events[0].At
	}
	return condition, nil
}

func newCondition(health Health) Condition {
	condition := Condition{
		Flow: FlowFlowing, Since: health.FailingSince,
		Pending: health.Newest - health.Cursor + int64(health.BlockedChats),
	}
	switch health.Status {
	case backlog.StatusBackoff:
		condition.Flow, condition.Until, condition.Reason = FlowWaiting, health.NextTry, health.Problem
	case backlog.StatusSuspended:
		condition.Flow, condition.Reason = FlowSuspended, health.Reason
	case backlog.StatusOK:
		condition.Since = time.Time{}
	}
	return condition
}

// explain adds to the newest attempt how often the endpoint has failed and when it is
// tried again, if the attempt failed and the endpoint waits.
func (h Health) explain(deliveries []Delivery) {
	if h.Status != backlog.StatusBackoff {
		return
	}
	for i := range deliveries {
		switch deliveries[i].State {
		case DeliveryFailed:
			deliveries[i].Failures, deliveries[i].NextTry = h.Failures, h.NextTry
			return
		case DeliveryDone:
			return
		case DeliveryBlocked, DeliveryDeadLetter:
		}
	}
}

// Deliveries returns a page of what became of the events of a webhook: first the
// chats that are blocked, one line each with the event that blocks it; then the
// dead letters; then the recent attempts, a hundred at most; each newest first.
// When there are many attempts per second, only some are kept. A webhook that is
// not there is a gateway.NotFound.
func (s *Service) Deliveries(ctx context.Context, ref Ref, request gateway.PageRequest) (gateway.Page[Delivery], error) {
	p, ok := s.pump(ref)
	if ok {
		// What just happened is what people look for.
		if err := s.flusher.flush(ctx, p); err != nil {
			return gateway.Page[Delivery]{}, fmt.Errorf("webhook: deliveries: %w", err)
		}
		ref.ID = p.id
	} else {
		found, err := s.Get(ctx, ref)
		if err != nil {
			return gateway.Page[Delivery]{}, err
		}
		ref.ID = found.ID
	}
	page, err := s.store.ListDeliveries(ctx, ref, request)
	if err != nil {
		return gateway.Page[Delivery]{}, fmt.Errorf("webhook: deliveries: %w", err)
	}
	if ok && request.Page == 1 {
		p.health().explain(page.Items)
	}
	return page, nil
}
