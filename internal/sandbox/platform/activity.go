package platform

import (
	"context"
	"sync"
	"time"
)

// maxActivities bounds what is kept of one phone; maxActivePhones of how many.
const (
	maxActivities   = 500
	maxActivePhones = 10_000
)

// Activity is something that a phone saw besides messages.
type Activity struct {
	Type      string `json:"type"` // chatstate, presence or receipt
	From      string `json:"from"` // a chat ID by number
	To        string `json:"to"`
	Value     string `json:"value"`
	Timestamp string `json:"timestamp"` // ISO 8601
}

// activity builds an entry; its time is set when it is kept.
func activity(kind string, from, to *account, value string) Activity {
	return Activity{Type: kind, From: from.pn().String(), To: to.pn().String(), Value: value}
}

// activities remembers the newest of what each phone saw, until the process
// ends.
type activities struct {
	now func() time.Time

	mu   sync.Mutex
	seen map[*account][]Activity
}

func newActivities(now func() time.Time) *activities {
	return &activities{now: now, seen: map[*account][]Activity{}}
}

func (a *activities) add(at *account, entry Activity) {
	entry.Timestamp = isoTime(a.now())
	a.mu.Lock()
	defer a.mu.Unlock()
	list, known := a.seen[at]
	if !known && len(a.seen) >= maxActivePhones {
		clear(a.seen)
	}
	if len(list) >= maxActivities {
		list = append([]Activity(nil), list[maxActivities/2:]...)
	}
	a.seen[at] = append(list, entry)
}

// Activity returns what the phone of the number saw besides messages, oldest
// first. Only the newest entries are kept.
func (s *Server) Activity(ctx context.Context, number string) ([]Activity, error) {
	of, err := s.phoneOf(ctx, number)
	if err != nil {
		return nil, err
	}
	s.activities.mu.Lock()
	defer s.activities.mu.Unlock()
	return append([]Activity{}, s.activities.seen[of]...), nil
}
