package remote_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/remote"
	"github.com/recado-project/recado/internal/cli/terminal"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// A flag that is not given is not sent, and zero is.
func TestChange(t *testing.T) {
	t.Parallel()
	for want, flags := range cases.Sorted(map[string]remote.PaceFlags{
		`{}`:                          {},
		`{"pace":{"gapSeconds":2.5}}`: {Gap: new(2500 * time.Millisecond)},
		`{"numberChecks":{"perDay":0},"pace":{"perMinute":0},"typing":false}`: {PerMinute: new(int64(0)), ChecksPerDay: new(int64(0)), Typing: new(false)},
		`{"pace":{"jitterSeconds":1,"newChatsPerDay":3,"newChatsPerHour":2}}`: {Jitter: new(time.Second), NewChatsPerHour: new(int64(2)), NewChatsPerDay: new(int64(3))},
	}) {
		var change client.InstanceChange
		flags.Change(&change)
		if got, err := json.Marshal(change); err != nil || string(got) != want {
			t.Errorf("got %s (%v), want %s", got, err, want)
		}
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	until := time.Date(2026, 11, 20, 14, 22, 10, 0, time.UTC)
	lines := remote.PaceLines(client.Instance{
		Pace: client.Pace{GapSeconds: 2.5, PerMinute: 10}, Typing: true, NumberChecks: client.Budget{PerHour: 100}, RestrictedUntil: until,
	})
	shown := map[string]string{}
	for _, line := range lines {
		if line[1] != "" {
			shown[line[0]] = line[1]
		}
	}
	for name, want := range cases.Sorted(map[string]string{
		"gap": "2.5s", "per minute": "10", "number checks per hour": "100", "typing": "yes", "restricted until": "2026-11-20T14:22:10Z",
	}) {
		if shown[name] != want {
			t.Errorf("%s is %q, want %q", name, shown[name], want)
		}
		delete(shown, name)
	}
	if len(shown) > 0 {
		t.Errorf("it also shows %v", shown)
	}
}

func TestLimitLines(t *testing.T) {
	t.Parallel()
	until := time.Date(2026, 11, 20, 14, 22, 10, 0, time.UTC)
	lines := remote.LimitLines(client.InstanceLimits{
		Restriction:  client.Restriction{Active: true, Since: new(until.Add(-time.Hour)), Until: &until},
		Pace:         client.PaceUse{Waiting: 2, SentLastMinute: 8, PerMinute: new(int64(10))},
		NewChats:     client.BudgetUse{LastHour: 1, LastDay: 5, PerDay: new(int64(30))},
		NumberChecks: client.BudgetUse{LastHour: 3, LastDay: 40, PerDay: new(int64(500))},
		Unanswered:   client.Unanswered{Days: 7, Messages: 31, Chats: 24, OfChats: 180},
	})
	want := []terminal.Pair{
		{"restricted", "yes"},
		{"since", "2026-11-20T13:22:10Z"},
		{"until", "2026-11-20T14:22:10Z"},
		{"messages in the queue", "2"},
		{"messages, last minute", "8 of 10"},
		{"new chats, last hour", "1"},
		{"new chats, last day", "5 of 30"},
		{"number checks, last hour", "3"},
		{"number checks, last day", "40 of 500"},
		{"people written to", "180 in 7 days"},
		{"without an answer", "24, with 31 messages"},
	}
	if !slices.Equal(lines, want) {
		t.Errorf("got %v, want %v", lines, want)
	}
}
