// Care for an account: the limits that it keeps to, and the one that the platform has set.

package gateway

import "time"

// Care is what an instance keeps to so that the platform has less reason to act against
// its account. The zero value sets no limit.
type Care struct {
	Pace Pace
	// Typing says whether a chat is shown typing before a text from the queue.
	Typing       bool
	NumberChecks Budget
}

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

// Restriction says that the platform does not let this account write to new
// contacts for now.
type Restriction struct {
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
