// The test of a webhook.

package webhook

import (
	"context"
	"fmt"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
)

const (
	// maxTests bounds how many tests run at the same time.
	maxTests = 32
	// maxTestAnswer bounds how much of an answer's body a test returns.
	maxTestAnswer = maxAnswer
)

// TestResult is what an endpoint answered to a test event.
type TestResult struct {
	Status   int // 0 where there was no answer
	Duration time.Duration
	Answer   string // the beginning of the answer's body, 4 KiB at most
	Error    string // why it failed; empty where it did not
}

// Test sends one webhook.test event now, whatever the state of the webhook, and
// returns what the endpoint said. The event looks like any other and is signed
// like any other, but it is not in the log: its sequence is 0, which no event of
// the log has. Its result does not change the state of the webhook. An instance
// without a webhook is a gateway.NotFound; a failure of the endpoint is no error.
func (s *Service) Test(ctx context.Context, instanceID string) (TestResult, error) {
	webhook, err := s.Get(ctx, instanceID)
	if err != nil {
		return TestResult{}, err
	}
	to, err := newTarget(webhook)
	if err != nil {
		return TestResult{}, fmt.Errorf("webhook: test: %w", err)
	}
	event, err := eventlog.NewEvent(instanceID, "", "", s.now(), eventlog.WebhookTest{Message: "This is a test."})
	if err != nil {
		return TestResult{}, fmt.Errorf("webhook: test: %w", err)
	}
	select {
	case s.tests <- struct{}{}:
		defer func() { <-s.tests }()
	case <-ctx.Done():
		return TestResult{}, ctx.Err()
	}
	answer := s.client.post(ctx, to, event, nil)
	if answer.Aborted {
		return TestResult{}, fmt.Errorf("webhook: test: %w", context.Cause(ctx))
	}
	return TestResult{
		Status: answer.Status, Duration: answer.duration,
		Answer: readable(answer.body, maxTestAnswer), Error: answer.Problem,
	}, nil
}
