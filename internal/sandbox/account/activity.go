package account

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

// NewActivity builds an entry; its time is set when it is kept.
func NewActivity(kind string, from, to *Account, value string) Activity {
	return Activity{Type: kind, From: from.PN().String(), To: to.PN().String(), Value: value}
}

// ActivityLog remembers the newest of what each phone saw, until the process
// ends.
type ActivityLog struct {
	directory *Directory

	mu   sync.Mutex
	seen map[*Account][]Activity
}

// NewActivityLog returns an empty log.
func NewActivityLog(directory *Directory) *ActivityLog {
	return &ActivityLog{directory: directory, seen: map[*Account][]Activity{}}
}

// Add keeps an entry that the phone of an account saw.
func (a *ActivityLog) Add(at *Account, entry Activity) {
	entry.Timestamp = Timestamp(a.directory.Now())
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

// Of returns what the phone of the number saw besides messages, oldest
// first. Only the newest entries are kept.
func (a *ActivityLog) Of(ctx context.Context, number string) ([]Activity, error) {
	of, err := a.directory.Named(ctx, number)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]Activity{}, a.seen[of]...), nil
}

// Timestamp writes a time as the control API does: ISO 8601, in UTC.
func Timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }
