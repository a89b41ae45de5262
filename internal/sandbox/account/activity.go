// What a phone saw besides messages: typing, presence, receipts.

package account

import (
	"context"
	"sync"
	"time"
)

// maxActivities bounds the entries for one phone, and maxActivePhones the phones
// that have entries.
const (
	maxActivities   = 500
	maxActivePhones = 10_000
)

// Activity is something other than a message that a phone saw.
type Activity struct {
	Type      string `json:"type"` // chatstate, presence, receipt, retry, call, blocked or unblocked
	From      string `json:"from"` // a chat ID by number
	To        string `json:"to"`
	Value     string `json:"value"`
	Timestamp string `json:"timestamp"` // ISO 8601
}

// NewActivity builds an entry. Add sets its time.
func NewActivity(kind string, from, to *Account, value string) Activity {
	return Activity{Type: kind, From: from.PN().String(), To: to.PN().String(), Value: value}
}

// ActivityLog keeps the newest activities of each phone in memory. They are lost
// when the process ends.
type ActivityLog struct {
	directory *Directory

	mu   sync.Mutex
	seen map[*Account][]Activity
}

// NewActivityLog returns an empty log.
func NewActivityLog(directory *Directory) *ActivityLog {
	return &ActivityLog{directory: directory, seen: map[*Account][]Activity{}}
}

// Add keeps an entry for the phone at which it was seen.
func (a *ActivityLog) Add(at *Account, entry Activity) {
	entry.Timestamp = Timestamp(a.directory.Now())
	defer a.directory.Bell.Ring(at.Number)
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

// Of returns the newest activities of the phone of a number, oldest first.
func (a *ActivityLog) Of(ctx context.Context, number string) ([]Activity, error) {
	of, err := a.directory.Named(ctx, number)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]Activity{}, a.seen[of]...), nil
}

// Timestamp formats a time in the control API's form: ISO 8601, in UTC.
func Timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }
