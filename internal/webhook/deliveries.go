package webhook

import (
	"context"
	"fmt"

	"github.com/recado-project/recado/internal/gateway"
)

// Deliveries returns a page of what became of the events of a webhook: first the
// chats that are blocked, one line each with the event that blocks it; then the
// dead letters; then the recent attempts, a hundred at most; each newest first.
// When there are many attempts per second, only some are kept. An instance without a
// webhook is a gateway.NotFound.
func (s *Service) Deliveries(ctx context.Context, instanceID string, request gateway.PageRequest) (gateway.Page[Delivery], error) {
	p, ok := s.pump(instanceID)
	if ok {
		// What just happened is what people look for.
		if err := s.flusher.flush(ctx, p); err != nil {
			return gateway.Page[Delivery]{}, fmt.Errorf("webhook: deliveries: %w", err)
		}
	} else if _, err := s.Get(ctx, instanceID); err != nil {
		return gateway.Page[Delivery]{}, err
	}
	page, err := s.store.ListDeliveries(ctx, instanceID, request)
	if err != nil {
		return gateway.Page[Delivery]{}, fmt.Errorf("webhook: deliveries: %w", err)
	}
	if ok && request.Page == 1 {
		p.health().explain(page.Items)
	}
	return page, nil
}
