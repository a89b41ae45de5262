package gateway

import "time"

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
