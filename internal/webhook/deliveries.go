package webhook

import (
	"context"
	"fmt"

	"github.com/recado-project/recado/internal/gateway"
)

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
