// Package call holds the use cases of calls: rejecting one, and rejecting all of an
// instance that has been told to, with a text for the caller.
package call

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/required"
)

const (
	// maxWaiting bounds the calls that wait to be rejected. Of a flood, the rest rings.
	maxWaiting = 256
	// atOnce is how many calls are rejected at the same time: a platform that is silent to some
	// instances must not keep those of others ringing.
	atOnce = 32
	// freshness is how long after it began a call is rejected: an older one was delivered
	// late and no longer rings.
	freshness = time.Minute
	// textPause is how long the same caller gets no second text.
	textPause = time.Hour
	// maxTexts bounds the texts of an instance to callers within textPause.
	maxTexts = 60
)

// Store knows the settings of instances.
type Store interface {
	GetInstance(ctx context.Context, id string) (gateway.Instance, error)
}

// Config holds what the service needs; all but Now is required.
type Config struct {
	Sessions gateway.Sessions
	Store    Store
	// SendText leaves a text in the queue of an instance.
	SendText func(ctx context.Context, instanceID string, to gateway.JID, text string) error
	Logger   *slog.Logger
	Now      func() time.Time // nil: the wall clock
}

// Service carries out the use cases. It is safe for concurrent use.
type Service struct {
	config  Config
	waiting chan ring
	told    told
}

// ring is a call of an instance, under the tenure with which it came.
type ring struct {
	tenure     gateway.Tenure
	instanceID string
	call       gateway.Call
}

// New makes the service. Run rejects what Rings was told of.
func New(config Config) (*Service, error) {
	if err := required.Check("call", config, "Now"); err != nil {
		return nil, err
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	return &Service{config: config, waiting: make(chan ring, maxWaiting)}, nil
}

// Reject rejects a call that rings. Its errors are NotFound if no such call rings, Conflict,
// PaymentRequired, PlatformFailed and PlatformTimeout.
func (s *Service) Reject(ctx context.Context, instanceID, callID string) error {
	session, err := s.config.Sessions.Session(ctx, instanceID)
	if err != nil {
		return err
	}
	return session.Calls().RejectCall(ctx, callID)
}

// Rings tells of a call. It does not wait: of more calls than can be rejected, the rest is
// dropped, and rings.
func (s *Service) Rings(ctx context.Context, instanceID string, call gateway.Call) {
	if call.Chat.JID.IsGroup() {
		return // it is not only this account's
	}
	select {
	case s.waiting <- ring{gateway.TenureOf(ctx), instanceID, call}:
	default:
		s.config.Logger.WarnContext(ctx, "more calls than can be rejected; this one rings", slog.String("instance_id", instanceID))
	}
}

// Run rejects the calls of instances that reject all, until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	var workers sync.WaitGroup
	for range atOnce {
		workers.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case next := <-s.waiting:
					if err := s.answer(gateway.WithTenure(ctx, next.tenure), next); err != nil && ctx.Err() == nil {
						s.config.Logger.WarnContext(ctx, "a call was not answered as the instance is set", slog.String("instance_id", next.instanceID), slog.Any("error", err))
					}
				}
			}
		})
	}
	workers.Wait()
	return nil
}

// answer rejects a call if the instance rejects all, and leaves the caller a text.
func (s *Service) answer(ctx context.Context, next ring) error {
	instance, err := s.config.Store.GetInstance(ctx, next.instanceID)
	if err != nil {
		return err
	}
	now := s.config.Now()
	rule := instance.Sending.Calls
	if !rejects(rule, next.call, now) {
		return nil
	}
	if err := s.Reject(ctx, next.instanceID, next.call.ID); err != nil {
		return err
	}
	if rule.Text == "" || !s.told.take(next.instanceID, next.call.From.Key(), now) {
		return nil
	}
	return s.config.SendText(ctx, next.instanceID, next.call.From.Address(), rule.Text)
}

// rejects reports whether a call is to be rejected. The platform delivers calls late, after a
// time without a connection: those no longer ring.
func rejects(rule gateway.CallRule, call gateway.Call, now time.Time) bool {
	return rule.Reject && now.Sub(call.At) <= freshness
}

// told remembers which callers got a text. It forgets them with the process: then one may
// get a second one too early.
type told struct {
	mu   sync.Mutex
	last map[string]map[gateway.JID]time.Time // by instance and caller
}

// take reports whether a caller may get a text now, and takes note of it.
func (t *told) take(instanceID string, caller gateway.JID, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for instance, callers := range t.last {
		for caller, at := range callers {
			if !at.After(now.Add(-textPause)) {
				delete(callers, caller)
			}
		}
		if len(callers) == 0 {
			delete(t.last, instance)
		}
	}
	callers := t.last[instanceID]
	if _, got := callers[caller]; got || len(callers) >= maxTexts {
		return false
	}
	if callers == nil {
		callers = map[gateway.JID]time.Time{}
		if t.last == nil {
			t.last = map[string]map[gateway.JID]time.Time{}
		}
		t.last[instanceID] = callers
	}
	callers[caller] = now
	return true
}
