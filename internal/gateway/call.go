package gateway

import "time"

// Call is a call that rings.
type Call struct {
	ID    string // the platform's
	From  Party
	Chat  Party // the caller, or the group that is called
	Video bool
	At    time.Time
}

func (Call) incoming() {}

// Cleaned cleans the identifier and the names, and bounds the time.
func (c Call) Cleaned(now time.Time) Incoming {
	c.ID = CleanID(c.ID)
	c.From, c.Chat = c.From.cleaned(), c.Chat.cleaned()
	c.At = CleanTime(c.At, now)
	return c
}
