// What an instance keeps to when it writes: how its settings change.

package instance

import (
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/recado-project/recado/internal/gateway"
)

// CareChange is what is to be changed of what an instance keeps to. A nil field stays as
// it is; zero and false set no limit.
type CareChange struct {
	Gap, Jitter                     *time.Duration
	PerMinute                       *int
	NewChatsPerHour, NewChatsPerDay *int
	Typing                          *bool
	ChecksPerHour, ChecksPerDay     *int
	RejectCalls                     *bool
	CallText                        *string
}

// check refuses what can't be, by the names of the API's fields.
func (c CareChange) check(refuse func(field, message string)) {
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

func (c CareChange) apply(care *gateway.Care) {
	set(&care.Pace.Gap, c.Gap)
	set(&care.Pace.Jitter, c.Jitter)
	set(&care.Pace.PerMinute, c.PerMinute)
	set(&care.Pace.NewChats.PerHour, c.NewChatsPerHour)
	set(&care.Pace.NewChats.PerDay, c.NewChatsPerDay)
	set(&care.Typing, c.Typing)
	set(&care.NumberChecks.PerHour, c.ChecksPerHour)
	set(&care.NumberChecks.PerDay, c.ChecksPerDay)
	set(&care.Calls.Reject, c.RejectCalls)
	set(&care.Calls.Text, c.CallText)
}

// set changes a setting, unless it is to stay.
func set[T any](setting, change *T) {
	if change != nil {
		*setting = *change
	}
}
