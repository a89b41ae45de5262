// The delivery of one event again.

package webhook

import (
	"context"
	"fmt"

	"github.com/recado-project/recado/internal/gateway"
)

// Redeliver sends one event of the past to the endpoint now, with its id, whatever the
// state of the webhook, and returns what the endpoint said. The delivery of all other events
// goes on as it would without it: the cursor stays, and events that wait go on waiting. The
// attempt is noted, and if it succeeds, the event is no dead letter any more.
//
// The error is a gateway.NotFound for a webhook that is not there and for an event that
// is not kept, and a gateway.Unavailable while the service does not run. A failure of the
// endpoint is no error.
func (s *Service) Redeliver(ctx context.Context, ref Ref, sequence int64) (Result, error) {
	p, err := s.served(ctx, ref)
	if err != nil {
		return Result{}, err
	}
	webhook, err := s.Get(ctx, ref)
	if err != nil {
		return Result{}, err
	}
	to, err := s.target(webhook)
	if err != nil {
		return Result{}, fmt.Errorf("webhook: deliver again: %w", err)
	}
	events, err := s.log.Read(ctx, ref.InstanceID, sequence-1, 1)
	if err != nil {
		return Result{}, fmt.Errorf("webhook: deliver again: %w", err)
	}
	if len(events) == 0 || events[0].Sequence != sequence {
		return Result{}, gateway.Errorf(gateway.NotFound, gateway.CodeNotFound, "there is no event %d any more, or not yet", sequence)
	}
	answer, err := s.sendNow(ctx, to, events[0])
	if err != nil {
		return Result{}, fmt.Errorf("webhook: deliver again: %w", err)
	}
	p.mu.Lock()
	p.note(events[0], answer)
	p.mu.Unlock()
	if !answer.Answer.Delivered() {
		return newResult(answer), nil
	}
	// What has just become a dead letter must be saved before it can be removed.
	if err := s.flusher.flush(ctx, p); err != nil {
		return Result{}, fmt.Errorf("webhook: deliver again: %w", err)
	}
	if err := s.store.DeleteDeadLetter(ctx, webhook.ref(), sequence); err != nil {
		return Result{}, fmt.Errorf("webhook: deliver again: %w", err)
	}
	return newResult(answer), nil
}
