// The test of a webhook.

package webhook

import (
	"context"
	"fmt"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/share"
)

const (
	// maxTests bounds how many tests and single deliveries run at the same time.
	maxTests = 32
	// maxResultAnswer bounds how much of an answer's body a result has.
	maxResultAnswer = maxAnswer
)

// Result is what an endpoint answered to an event that somebody had sent to it.
type Result struct {
	Status   int // 0 where there was no answer
	Duration time.Duration
	Answer   string // the beginning of the answer's body, 4 KiB at most
	Error    string // why it failed; empty where it did not
}

// Test sends one webhook.test event now, whatever the state of the webhook, and
// returns what the endpoint said. The event looks like any other and is signed
// like any other, but it is not in the log: its sequence is 0, which no event of
// the log has. Its result does not change the state of the webhook. A webhook that
// is not there is a gateway.NotFound; a failure of the endpoint is no error.
func (s *Service) Test(ctx context.Context, ref Ref) (Result, error) {
	webhook, err := s.Get(ctx, ref)
	if err != nil {
		return Result{}, err
	}
	to, err := s.target(webhook)
	if err != nil {
		return Result{}, fmt.Errorf("webhook: test: %w", err)
	}
	event, err := eventlog.NewEvent(ref.InstanceID, "", "", s.now(), eventlog.WebhookTest{Message: "This is a test."})
	if err != nil {
		return Result{}, fmt.Errorf("webhook: test: %w", err)
	}
	answer, err := s.sendNow(ctx, to, event)
	if err != nil {
		return Result{}, fmt.Errorf("webhook: test: %w", err)
	}
	return newResult(answer), nil
}

// Pools are what the service shares among accounts: the places of tests and single deliveries, and the memory of files in
// events.
func (s *Service) Pools() []*share.Pool {
	if s.files == nil {
		return []*share.Pool{s.tests}
	}
	return []*share.Pool{s.tests, s.files.held}
}

// sendNow sends an event once, beside the deliveries. Its error is that of ctx, or Unavailable for
// whoever has waited too long for a place.
func (s *Service) sendNow(ctx context.Context, to *target, event eventlog.Event) (answer, error) {
	place, err := s.tests.Wait(ctx, 1)
	if err != nil {
		return answer{}, err
	}
	defer place.Release()
	a := s.client.post(ctx, to, event, nil)
	if a.Answer.Aborted {
		return answer{}, context.Cause(ctx)
	}
	return a, nil
}

func newResult(a answer) Result {
	return Result{Status: a.Answer.Status, Duration: a.duration, Answer: readable(a.body, maxResultAnswer), Error: a.Answer.Problem}
}
