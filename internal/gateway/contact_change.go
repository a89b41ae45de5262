package gateway

import "time"

// ContactChange says that something about a contact changed: its name, its picture,
// or that its other address became known.
type ContactChange struct {
	Contact Party
	At      time.Time
	// SourceKey is the same for every delivery of the change.
	SourceKey string
}

func (ContactChange) incoming() {}

// Cleaned cleans the key and the name, and bounds the time. It is nil for a contact
// without an address.
func (c ContactChange) Cleaned(now time.Time) Incoming {
	if c.Contact.Address() == "" {
		return nil
	}
	c.SourceKey = CleanID(c.SourceKey)
	c.Contact = c.Contact.cleaned()
	c.At = CleanTime(c.At, now)
	return c
}
