package webhook

import (
	"context"
	"fmt"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

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

const (
	// replaysAtOnce is how many replays of one instance may follow each other; after
	// that one is allowed every Schedule.ReplayEvery.
	replaysAtOnce = 6
	// maxReplayed bounds how many instances have a limiter of their own at a time.
	maxReplayed = 100_000
)

// replays limits how often the events of an instance are delivered again, because
// each replay is many requests to an endpoint whose owner may not expect them.
type replays struct {
	every   time.Duration
	buckets *lru.Cache[string, *rate.Limiter]
}

func newReplays(every time.Duration) (*replays, error) {
	buckets, err := lru.New[string, *rate.Limiter](maxReplayed)
	if err != nil {
		return nil, fmt.Errorf("webhook: remember replays: %w", err)
	}
	return &replays{every: every, buckets: buckets}, nil
}

// admit refuses a replay that comes too soon.
func (r *replays) admit(instanceID string, now time.Time) error {
	bucket := rate.NewLimiter(rate.Every(r.every), replaysAtOnce)
	if known, ok, _ := r.buckets.PeekOrAdd(instanceID, bucket); ok {
		bucket = known
	}
	if bucket.AllowN(now, 1) {
		return nil
	}
	refusal := gateway.Errorf(gateway.RateLimited, gateway.CodeRateLimited,
		"too many replays of the webhooks of this instance: one is possible every %s", r.every)
	missing := 1 - bucket.TokensAt(now)
	refusal.RetryAfter = time.Duration(missing * float64(r.every))
	return refusal
}

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
