package gateway

import "time"

// Receipt says that messages have reached a later status.
type Receipt struct {
	Chat       Party
	By         Party // who received, read or played them
	MessageIDs []string
	Status     MessageStatus
	At         time.Time
}

func (Receipt) incoming() {}

// Cleaned cleans the identifiers and the names, and bounds the time.
func (r Receipt) Cleaned(now time.Time) Incoming {
	ids := make([]string, len(r.MessageIDs))
	for i, id := range r.MessageIDs {
		ids[i] = CleanID(id)
	}
	r.MessageIDs = ids
	r.Chat, r.By = r.Chat.cleaned(), r.By.cleaned()
	r.At = CleanTime(r.At, now)
	return r
}
