// What an instance keeps to when it writes: how its settings change.

package instance

import (
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/recado-project/recado/internal/gateway"
)

// SendingChange is what is to be changed of what an instance keeps to. A nil field stays as
// it is; zero and false set no limit.
type SendingChange struct {
	Gap, Jitter                     *time.Duration
	PerMinute                       *int
	NewChatsPerHour, NewChatsPerDay *int
	Typing                          *bool
	ChecksPerHour, ChecksPerDay     *int
	RejectCalls                     *bool
	CallText                        *string
	RefuseButtons                   *bool
}

// check refuses what can't be, by the names of the API's fields.
func (c SendingChange) check(refuse func(field, message string)) {
	if c.CallText != nil && utf8.RuneCountInString(*c.CallText) > gateway.MaxCallText {
		refuse("rejectCallsText", fmt.Sprintf("must have %d characters or less", gateway.MaxCallText))
	}
	for _, wait := range []struct {
		field string
		value *time.Duration
	}{{"pace.gapSeconds", c.Gap}, {"pace.jitterSeconds", c.Jitter}} {
		if wait.value != nil && (*wait.value < 0 || *wait.value > gateway.MaxPace) {
			refuse(wait.field, fmt.Sprintf("must be from 0 to %d", int(gateway.MaxPace.Seconds())))
		}
	}
	for _, count := range []struct {
		field string
		value *int
		most  int
	}{
		{"pace.perMinute", c.PerMinute, gateway.MaxPerMinute},
		{"pace.newChatsPerHour", c.NewChatsPerHour, gateway.MaxBudget},
		{"pace.newChatsPerDay", c.NewChatsPerDay, gateway.MaxBudget},
		{"numberChecks.perHour", c.ChecksPerHour, gateway.MaxBudget},
		{"numberChecks.perDay", c.ChecksPerDay, gateway.MaxBudget},
	} {
		if count.value != nil && (*count.value < 0 || *count.value > count.most) {
			refuse(count.field, fmt.Sprintf("must be from 0 to %d", count.most))
		}
	}
}

func (c SendingChange) apply(to *gateway.SendingRules) {
	set(&to.Pace.Gap, c.Gap)
	set(&to.Pace.Jitter, c.Jitter)
	set(&to.Pace.PerMinute, c.PerMinute)
	set(&to.Pace.NewChats.PerHour, c.NewChatsPerHour)
	set(&to.Pace.NewChats.PerDay, c.NewChatsPerDay)
	set(&to.Typing, c.Typing)
	set(&to.NumberChecks.PerHour, c.ChecksPerHour)
	set(&to.NumberChecks.PerDay, c.ChecksPerDay)
	set(&to.Calls.Reject, c.RejectCalls)
	set(&to.Calls.Text, c.CallText)
	set(&to.RefuseButtons, c.RefuseButtons)
}

// set changes a setting, unless it is to stay.
func set[T any](setting, change *T) {
	if change != nil {
		*setting = *change
	}
}
