// What an instance keeps to: pace, typing, budgets, calls, and what it does of its own accord.

package remote

import (
	"fmt"
	"strconv"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/terminal"
)

// PaceFlags are the settings. A flag that is not given changes nothing.
type PaceFlags struct {
	Gap             *time.Duration `help:"Time between two messages from the queue at least, such as 4s; 0: none." env:"-"`
	Jitter          *time.Duration `help:"The most that chance adds to it, anew for each message; 0: nothing." env:"-"`
	PerMinute       *int64         `help:"Messages from the queue within any minute; 0: any number." env:"-"`
	NewChatsPerHour *int64         `help:"Messages from the queue within any hour that begin a chat; 0: any number." env:"-"`
	NewChatsPerDay  *int64         `help:"The same within any day." env:"-"`
	Typing          *bool          `help:"Show typing before a text from the queue." env:"-" negatable:""`
	ChecksPerHour   *int64         `help:"Numbers that the platform may be asked about by checks within any hour; 0: any number." env:"-"`
	ChecksPerDay    *int64         `help:"The same within any day." env:"-"`
	RejectCalls     *bool          `help:"Reject calls of people." env:"-" negatable:""`
	RejectCallsText *string        `help:"A text for callers who were rejected; empty: none." env:"-"`
	RefuseButtons   *bool          `help:"Refuse buttons and lists that programs send in the languages of other tools; they become polls otherwise." env:"-" negatable:""`
	ReadMessages    *bool          `help:"Mark what people write as read as soon as it is stored." env:"-" negatable:""`
	ReadStatuses    *bool          `help:"Mark status posts of contacts as seen as soon as they are stored." env:"-" negatable:""`
	AlwaysOnline    *bool          `help:"Show the account online while the instance is connected." env:"-" negatable:""`
	IgnoreGroups    *bool          `help:"Store and deliver nothing that comes in of groups." env:"-" negatable:""`
}

// Change adds the given settings to a change of an instance.
func (f PaceFlags) Change(change *client.InstanceChange) {
	pace := client.PaceChange{
		GapSeconds: seconds(f.Gap), JitterSeconds: seconds(f.Jitter), PerMinute: client.SetIf(f.PerMinute),
		NewChatsPerHour: client.SetIf(f.NewChatsPerHour), NewChatsPerDay: client.SetIf(f.NewChatsPerDay),
	}
	if pace != (client.PaceChange{}) {
		change.Pace = client.Set(pace)
	}
	checks := client.BudgetChange{PerHour: client.SetIf(f.ChecksPerHour), PerDay: client.SetIf(f.ChecksPerDay)}
	if checks != (client.BudgetChange{}) {
		change.NumberChecks = client.Set(checks)
	}
	change.Typing, change.RejectCalls, change.RejectCallsText = client.SetIf(f.Typing), client.SetIf(f.RejectCalls), OrNull(f.RejectCallsText)
	change.ReadMessages, change.ReadStatuses = client.SetIf(f.ReadMessages), client.SetIf(f.ReadStatuses)
	change.AlwaysOnline, change.IgnoreGroups = client.SetIf(f.AlwaysOnline), client.SetIf(f.IgnoreGroups)
	if f.RefuseButtons != nil {
		change.Buttons = client.Set(map[bool]string{true: client.ButtonsRefuse, false: client.ButtonsPoll}[*f.RefuseButtons])
	}
}

func seconds(d *time.Duration) client.Nullable[float64] {
	if d == nil {
		return client.Nullable[float64]{}
	}
	return client.Set(d.Seconds())
}

// PaceLines shows the settings of an instance. Those that are off have no value.
func PaceLines(of client.Instance) []terminal.Pair {
	lines := []terminal.Pair{
		{"gap", wait(of.Pace.GapSeconds)},
		{"jitter", wait(of.Pace.JitterSeconds)},
		{"per minute", count(of.Pace.PerMinute)},
		{"new chats per hour", count(of.Pace.NewChatsPerHour)},
		{"new chats per day", count(of.Pace.NewChatsPerDay)},
		{"number checks per hour", count(of.NumberChecks.PerHour)},
		{"number checks per day", count(of.NumberChecks.PerDay)},
	}
	if of.Typing {
		lines = append(lines, terminal.Pair{"typing", "yes"})
	}
	if of.RejectCalls {
		lines = append(lines, terminal.Pair{"calls", "rejected"}, terminal.Pair{"text for callers", of.RejectCallsText})
	}
	if of.Buttons == client.ButtonsRefuse {
		lines = append(lines, terminal.Pair{"buttons", "refused"})
	}
	for _, set := range []struct {
		on   bool
		line terminal.Pair
	}{
		{of.ReadMessages, terminal.Pair{"messages", "marked as read"}},
		{of.ReadStatuses, terminal.Pair{"status posts", "marked as seen"}},
		{of.AlwaysOnline, terminal.Pair{"online", "always"}},
		{of.IgnoreGroups, terminal.Pair{"groups", "ignored"}},
	} {
		if set.on {
			lines = append(lines, set.line)
		}
	}
	if !of.RestrictedUntil.IsZero() {
		lines = append(lines, terminal.Pair{"restricted until", of.RestrictedUntil.UTC().Format(time.RFC3339)})
	}
	return lines
}

// LimitLines shows what an instance has to heed, and what it has used up.
func LimitLines(l client.InstanceLimits) []terminal.Pair {
	lines := []terminal.Pair{{"restricted", "no"}}
	if l.Restriction.Active && l.Restriction.Since != nil && l.Restriction.Until != nil {
		lines = []terminal.Pair{
			{"restricted", "yes"},
			{"since", l.Restriction.Since.UTC().Format(time.RFC3339)},
			{"until", l.Restriction.Until.UTC().Format(time.RFC3339)},
		}
	}
	return append(
		lines,
		terminal.Pair{"messages in the queue", strconv.FormatInt(l.Pace.Waiting, 10)},
		terminal.Pair{"messages, last minute", used(l.Pace.SentLastMinute, l.Pace.PerMinute)},
		terminal.Pair{"new chats, last hour", used(l.NewChats.LastHour, l.NewChats.PerHour)},
		terminal.Pair{"new chats, last day", used(l.NewChats.LastDay, l.NewChats.PerDay)},
		terminal.Pair{"number checks, last hour", used(l.NumberChecks.LastHour, l.NumberChecks.PerHour)},
		terminal.Pair{"number checks, last day", used(l.NumberChecks.LastDay, l.NumberChecks.PerDay)},
		terminal.Pair{"people written to", fmt.Sprintf("%d in %d days", l.Unanswered.OfChats, l.Unanswered.Days)},
		terminal.Pair{"without an answer", fmt.Sprintf("%d, with %d messages", l.Unanswered.Chats, l.Unanswered.Messages)},
	)
}

func used(n int64, most *int64) string {
	if most == nil {
		return strconv.FormatInt(n, 10)
	}
	return fmt.Sprintf("%d of %d", n, *most)
}

func wait(seconds float64) string {
	if seconds == 0 {
		return ""
	}
	return time.Duration(seconds * float64(time.Second)).String()
}

func count(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}
