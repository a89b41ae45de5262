package directory

import (
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestWithin(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	spent := func(minutesAgoAndNumbers ...int) (all []gateway.NumberChecks) {
		for i := 0; i < len(minutesAgoAndNumbers); i += 2 {
			all = append(all, gateway.NumberChecks{
				At: now.Add(-time.Duration(minutesAgoAndNumbers[i]) * time.Minute), Numbers: minutesAgoAndNumbers[i+1],
			})
		}
		return all
	}
	const fits, never = -1, 0
	for name, test := range cases.Sorted(map[string]struct {
		budget gateway.Budget
		spent  []gateway.NumberChecks
		more   int
		wait   int // minutes; or fits, or never
		says   string
	}{
		"no budget":                      {gateway.Budget{}, spent(5, 10_000), 500, fits, ""},
		"just enough in the hour":        {gateway.Budget{PerHour: 10}, spent(90, 50, 5, 6), 4, fits, ""},
		"one too many":                   {gateway.Budget{PerHour: 10}, spent(90, 50, 5, 6), 5, 55, "of the 10 that this instance may check within an hour, 4 are left; there are enough at 2026-05-04T12:55:00Z"},
		"the oldest is not enough":       {gateway.Budget{PerHour: 10}, spent(50, 2, 30, 3, 5, 5), 4, 30, "0 are left"},
		"exactly an hour ago is over":    {gateway.Budget{PerHour: 10}, spent(60, 10), 10, fits, ""},
		"the minute that runs counts":    {gateway.Budget{PerHour: 10}, spent(-1, 10), 1, 61, "0 are left"},
		"the day is full":                {gateway.Budget{PerHour: 10, PerDay: 20}, spent(23*60, 12, 120, 8), 1, 60, "within a day"},
		"both are full, the day longer":  {gateway.Budget{PerHour: 10, PerDay: 20}, spent(23*60, 4, 120, 6, 10, 10), 10, 22 * 60, "within a day"},
		"both are full, the hour longer": {gateway.Budget{PerHour: 10, PerDay: 20}, spent(1439, 10, 10, 10), 2, 50, "within an hour"},
		"more than there ever is":        {gateway.Budget{PerHour: 10}, nil, 11, never, "may check 10 within an hour: ask for fewer"},
		"a budget that became smaller":   {gateway.Budget{PerHour: 3}, spent(40, 5, 20, 5), 3, 40, "0 are left"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := within(test.budget, test.spent, test.more, now)
			if test.wait == fits {
				if err != nil {
					t.Fatalf("refused: %v", err)
				}
				return
			}
			refusal, ok := gateway.AsError(err)
			if !ok || refusal.Code != gateway.CodeRateLimited || !strings.Contains(refusal.Message, test.says) {
				t.Fatalf("answered %v", err)
			}
			if want := time.Duration(test.wait) * time.Minute; refusal.RetryAfter != want {
				t.Errorf("to be tried again after %s, want %s", refusal.RetryAfter, want)
			}
		})
	}
}
