package webhook

import (
	"context"
	"fmt"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/webhook/backlog"
)

// From says where a replay begins: with a sequence number, or with what was
// written down at a time or later. Exactly one of them is set.
type From struct {
	Sequence int64
	Since    time.Time
}

// Replayed is the result of a replay.
type Replayed backlog.Replayed

// Replay delivers events of the past again, with the ids that they had: the
// cursor goes back, never forward. Where what is asked for is older than what is
// kept, it begins with the oldest. Chats that waited for one of these events
// wait no more, and dead letters among them are forgotten; both are delivered as
// any other. A webhook that is suspended stays so, until it is resumed.
//
// An instance without a webhook is a gateway.NotFound, one whose webhook is not
// active a gateway.Conflict, one whose events were replayed often just now a
// gateway.RateLimited; while the service does not run, the answer is a
// gateway.Unavailable.
func (s *Service) Replay(ctx context.Context, instanceID string, from From) (Replayed, error) {
	p, err := s.served(ctx, instanceID)
	if err != nil {
		return Replayed{}, err
	}
	if !p.isActive() {
		return Replayed{}, gateway.Errorf(gateway.Conflict, gateway.CodeWebhookInactive, "the webhook is not active: it gets no events")
	}
	if err := s.replays.admit(instanceID, s.now()); err != nil {
		return Replayed{}, err
	}
	first, err := s.firstOf(ctx, instanceID, from)
	if err != nil {
		return Replayed{}, fmt.Errorf("webhook: replay: %w", err)
	}
	replayed := Replayed(p.replay(first))
	if err := s.flusher.flush(ctx, p); err != nil {
		return Replayed{}, fmt.Errorf("webhook: replay: %w", err)
	}
	return replayed, nil
}

// firstOf returns the first sequence number that a replay is about.
func (s *Service) firstOf(ctx context.Context, instanceID string, from From) (int64, error) {
	oldest, newest, err := s.log.Bounds(ctx, instanceID)
	if err != nil {
		return 0, err
	}
	if from.Since.IsZero() {
		return max(from.Sequence, oldest), nil
	}
	first, err := s.store.FirstEventSince(ctx, instanceID, from.Since)
	if err != nil {
		return 0, err
	}
	if first == 0 {
		return newest + 1, nil
	}
	return first, nil
}
