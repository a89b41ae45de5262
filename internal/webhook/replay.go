package webhook

import (
	"context"
	"fmt"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/webhook/backlog"
)

// From says where a replay begins: at a sequence number, or at the first event that
// was appended at a time or later. Exactly one of them is set.
type From struct {
	Sequence int64
	Since    time.Time
}

// Replayed is the result of a replay.
type Replayed backlog.Replayed

// Replay delivers events of the past again, with their ids: the cursor goes back,
// never forward. If the first of them is not kept any more, it begins with the oldest
// that is. Chats that one of these events had blocked are unblocked, and dead letters
// among the events are tried again. A suspended webhook stays suspended until it is
// resumed.
//
// The error is a gateway.NotFound for a webhook that is not there, a
// gateway.Conflict for a webhook that is not active, a gateway.RateLimited after too
// many replays, and a gateway.Unavailable while the service does not run.
func (s *Service) Replay(ctx context.Context, ref Ref, from From) (Replayed, error) {
	p, err := s.served(ctx, ref)
	if err != nil {
		return Replayed{}, err
	}
	if !p.isActive() {
		return Replayed{}, gateway.Errorf(gateway.Conflict, gateway.CodeWebhookInactive, "the webhook is not active: it gets no events")
	}
	if err := s.replays.admit(ref.InstanceID, s.now()); err != nil {
		return Replayed{}, err
	}
	first, err := s.firstOf(ctx, ref.InstanceID, from)
	if err != nil {
		return Replayed{}, fmt.Errorf("webhook: replay: %w", err)
	}
	replayed := Replayed(p.replay(first))
	if err := s.flusher.flush(ctx, p); err != nil {
		return Replayed{}, fmt.Errorf("webhook: replay: %w", err)
	}
	return replayed, nil
}

// firstOf returns the sequence number of the first event of a replay.
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
