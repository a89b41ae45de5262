// How many numbers of an instance may be checked, and how many were.

package directory

import (
	"context"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// day is the longest time that a budget looks back on.
const day = 24 * time.Hour

// NumberChecks returns how many numbers of checks the platform was asked about.
func (s *Service) NumberChecks(ctx context.Context, instanceID string) (gateway.Spent, error) {
	now := s.now()
	spent, err := s.store.ListNumberChecks(ctx, instanceID, now.Add(-day))
	if err != nil {
		return gateway.Spent{}, err
	}
	return gateway.Spent{LastHour: sum(spent, now.Add(-time.Hour)), LastDay: sum(spent, now.Add(-day))}, nil
}

// take takes numbers from the budget of an instance, all or none. Those that the platform
// fails to answer stay taken: it was asked.
func (s *Service) take(ctx context.Context, instanceID string, numbers int) error {
	instance, err := s.store.GetInstance(ctx, instanceID)
	if err != nil {
		return err
	}
	now := s.now()
	// Counted from the end of the minute, so that no hour has more than its budget.
	taken := gateway.NumberChecks{At: now.Truncate(time.Minute).Add(time.Minute), Numbers: numbers}
	return s.store.TakeNumberChecks(ctx, instanceID, taken, now.Add(-day), func(spent []gateway.NumberChecks) error {
		return within(instance.Sending.NumberChecks, spent, numbers, now)
	})
}

// within refuses more numbers than a budget has left, and says when it will have enough:
// after what was spent, oldest first. Without such a time they are more than it ever has.
func within(budget gateway.Budget, spent []gateway.NumberChecks, more int, now time.Time) error {
	var refusal *gateway.Error
	for _, window := range []struct {
		most   int
		length time.Duration
		name   string
	}{{budget.PerHour, time.Hour, "an hour"}, {budget.PerDay, day, "a day"}} {
		left := window.most - sum(spent, now.Add(-window.length))
		switch {
		case window.most == 0 || more <= left:
			continue
		case more > window.most:
			return gateway.Errorf(gateway.RateLimited, gateway.CodeRateLimited,
				"the platform would be asked about %d numbers, and this instance may check %d within %s: ask for fewer; nothing was asked",
				more, window.most, window.name)
		}
		wait := untilEnough(spent, more-left, now, window.length)
		if refusal == nil || wait > refusal.RetryAfter {
			refusal = gateway.Errorf(gateway.RateLimited, gateway.CodeRateLimited,
				"the platform would be asked about %d numbers, and of the %d that this instance may check within %s, %d are left; "+
					"there are enough at %s; nothing was asked",
				more, window.most, window.name, max(left, 0), now.Add(wait).UTC().Format(time.RFC3339))
			refusal.RetryAfter = wait
		}
	}
	if refusal == nil {
		return nil
	}
	return refusal
}

// untilEnough is how long it takes until so many of what was spent are out of the window.
func untilEnough(spent []gateway.NumberChecks, missing int, now time.Time, window time.Duration) time.Duration {
	for _, checks := range spent {
		if !checks.At.After(now.Add(-window)) {
			continue
		}
		if missing -= checks.Numbers; missing <= 0 {
			return checks.At.Add(window).Sub(now)
		}
	}
	return window
}

// sum counts what was spent after a time.
func sum(spent []gateway.NumberChecks, after time.Time) int {
	n := 0
	for _, checks := range spent {
		if checks.At.After(after) {
			n += checks.Numbers
		}
	}
	return n
}
