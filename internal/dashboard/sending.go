// What an instance keeps to when it writes, and what its account has to heed.

package dashboard

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/instance"
)

// Budgets say how much of an instance's budgets is used.
type Budgets interface {
	NumberChecks(ctx context.Context, instanceID string) (gateway.Spent, error)
}

// Answers say who has answered an instance.
type Answers interface {
	Unanswered(ctx context.Context, instanceID string) (gateway.Unanswered, error)
}

// limitsView is the panel of what the account has to heed. It counts messages, so only the
// whole page has it, and not each of its live parts.
type limitsView struct {
	Checks  gateway.Spent
	Budget  gateway.Budget
	Silence gateway.Unanswered
}

// limitsOf returns the panel of an instance.
func (p *pages) limitsOf(ctx context.Context, found gateway.Instance) (*limitsView, error) {
	checks, err := p.Budgets.NumberChecks(ctx, found.ID)
	if err != nil {
		return nil, err
	}
	silence, err := p.Answers.Unanswered(ctx, found.ID)
	if err != nil {
		return nil, err
	}
	return &limitsView{Checks: checks, Budget: found.Sending.NumberChecks, Silence: silence}, nil
}

// restriction is what the page says of a restriction; nil for none.
type restriction struct{ Since, Until time.Time }

func restrictionOf(found gateway.Instance, now time.Time) *restriction {
	until, active := found.Restricted.Active(now)
	if !active {
		return nil
	}
	return &restriction{Since: found.Restricted.Since, Until: until}
}

// sendingOf reads the form's settings. An empty field is off; one that is not there changes
// nothing.
func sendingOf(r *frame.Request) (instance.SendingChange, error) {
	var wrong []gateway.FieldError
	number := func(field string) *float64 {
		text := strings.Replace(strings.TrimSpace(r.FormValue(field)), ",", ".", 1)
		if !r.PostForm.Has(field) {
			return nil
		}
		if text == "" {
			return new(0.0)
		}
		value, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(value) || math.Abs(value) > 2*gateway.MaxBudget {
			wrong = append(wrong, gateway.FieldError{Field: field, Message: "must be a number within its limits"})
			return nil
		}
		return &value
	}
	wait := func(field string) *time.Duration {
		seconds := number(field)
		if seconds == nil {
			return nil
		}
		return new(time.Duration(math.Round(*seconds*1000)) * time.Millisecond)
	}
	count := func(field string) *int {
		value := number(field)
		if value == nil {
			return nil
		}
		if *value != math.Trunc(*value) {
			wrong = append(wrong, gateway.FieldError{Field: field, Message: "must be a whole number"})
			return nil
		}
		return new(int(*value))
	}
	sending := instance.SendingChange{
		Gap: wait("gap"), Jitter: wait("jitter"), PerMinute: count("per-minute"),
		NewChatsPerHour: count("new-chats-hour"), NewChatsPerDay: count("new-chats-day"),
		ChecksPerHour: count("checks-hour"), ChecksPerDay: count("checks-day"),
	}
	sending.Typing = switchOf(r, "typing", "on")
	if poll := switchOf(r, "buttons", "poll"); poll != nil {
		sending.RefuseButtons = new(!*poll)
	}
	if len(wrong) > 0 {
		return sending, gateway.InvalidFields(wrong...)
	}
	return sending, nil
}

// switchOf reads a switch of a form, which has that value where it is on, and another one in any case; nil if the form
// has no such switch.
func switchOf(r *frame.Request, field, on string) *bool {
	if !r.PostForm.Has(field) {
		return nil
	}
	return new(slices.Contains(r.PostForm[field], on))
}

// Seconds is a time as the form shows it; empty for none.
func (instanceView) Seconds(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64)
}

// Count is a number as the form shows it; empty for none.
func (instanceView) Count(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
