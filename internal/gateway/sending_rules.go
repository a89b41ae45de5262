// The limits that an instance keeps to when it sends, and the one that the platform has set.

package gateway

import "time"

// SendingRules are what an instance keeps to so that the platform has less reason to act against
// its account. The zero value sets no limit.
type SendingRules struct {
	Pace Pace
	// Typing says whether a chat is shown typing before a text from the queue.
	Typing       bool
	NumberChecks Budget
	Calls        CallRule
	// RefuseButtons says that buttons and lists, which programs send in the languages of other tools, are refused. They
	// become polls otherwise.
	RefuseButtons bool
}

// CallRule is what becomes of calls of people. The zero value lets them ring.
type CallRule struct {
	Reject bool
	Text   string // that a caller who was rejected gets, once in a while; empty: none
}

// MaxCallText is how many characters the text of a CallRule may have.
const MaxCallText = 1024

// Pace is how fast messages of an instance leave the queue. A zero field sets no limit.
type Pace struct {
	// Gap is the time between two messages at least; Jitter is the most that chance adds
	// to it, anew for each message.
	Gap, Jitter time.Duration
	PerMinute   int
	// NewChats limits the messages that begin a chat.
	NewChats Budget
}

// Budget is how often something may happen within any hour and any day. Zero sets no limit.
type Budget struct {
	PerHour, PerDay int
}

// The most that the rules may be set to.
const (
	MaxPace      = time.Hour // of a gap, and of what chance adds
	MaxPerMinute = 600
	MaxBudget    = 100_000
)

// Restriction is the platform's word that this account may not write to new contacts for
// now, or that it may again.
type Restriction struct {
	Lifted    bool      // it may again; then only At is set
	Until     time.Time // zero where unknown
	Recipient Party     // of the message that was refused; empty if the platform reported it unasked
	At        time.Time
}

func (Restriction) incoming() {}

// Cleaned cleans the name and bounds the times. Its end lies ahead, so only one that
// is more than a year away is dropped.
func (r Restriction) Cleaned(now time.Time) Incoming {
	if r.Until.After(now.AddDate(1, 0, 0)) {
		r.Until = time.Time{}
	}
	r.Recipient = r.Recipient.cleaned()
	r.At = CleanTime(r.At, now)
	return r
}

// AssumedRestriction is how long a restriction without a known end is taken to last after
// the platform has last spoken of it. Then the next message tries.
const AssumedRestriction = time.Hour

// Restricted is what is known of a restriction of an account. The zero value is none.
type Restricted struct {
	Since    time.Time // when the platform first spoke of it
	Until    time.Time // zero where the platform has not said
	Reported time.Time // when the platform last spoke of it
}

// After is what is known when the platform has spoken. A restriction of which it has just
// spoken before goes on, with the end that is known.
func (r Restricted) After(report Restriction) Restricted {
	if report.Lifted {
		return Restricted{}
	}
	if r == (Restricted{}) || !report.At.Before(r.end().Add(AssumedRestriction)) {
		return Restricted{Since: report.At, Until: report.Until, Reported: report.At}
	}
	if report.Until.IsZero() && r.Until.After(report.At) {
		report.Until = r.Until
	}
	return Restricted{Since: r.Since, Until: report.Until, Reported: report.At}
}

// Active reports whether the account may not write to new contacts, and until when that is
// to be taken for granted.
func (r Restricted) Active(now time.Time) (until time.Time, active bool) {
	return r.end(), r != (Restricted{}) && now.Before(r.end())
}

func (r Restricted) end() time.Time {
	if r.Until.IsZero() {
		return r.Reported.Add(AssumedRestriction)
	}
	return r.Until
}

// NumberChecks is how many numbers the platform was asked about in the minute that ended
// At.
type NumberChecks struct {
	At      time.Time
	Numbers int
}

// Spent is how much of a Budget is used.
type Spent struct {
	LastHour, LastDay int
}

// Correspondence is what was written to a person, and when he wrote, since some time.
type Correspondence struct {
	Chat         Party
	Written      int       // messages that the platform has taken
	FirstWritten time.Time // zero where none was
	LastReceived time.Time // zero where none was
}

// Unanswered is how many of the people who were written to have not written since the
// first of these messages.
type Unanswered struct {
	Days     int // that are looked at
	Messages int // to those who have not
	Chats    int // those who have not
	OfChats  int // all who were written to
}
