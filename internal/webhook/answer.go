package webhook

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// answer is what became of a request.
type answer struct {
	status     int // 0: there was none
	duration   time.Duration
	body       []byte        // its beginning
	retryAfter time.Duration // what it asks for; 0 for nothing
	problem    string        // why it failed, for people; it names no address

	aborted     bool // by ourselves: it says nothing
	timedOut    bool
	unreachable bool // there was no connection, so no event was looked at
}

// verdict is what an answer means for an event and its endpoint.
type verdict int

const (
	failed verdict = iota
	delivered
	gone    // the endpoint wants no events any more
	aborted // it says nothing
)

func (a answer) verdict() verdict {
	switch {
	case a.aborted:
		return aborted
	case a.status >= 200 && a.status <= 299:
		return delivered
	case a.status == http.StatusGone:
		return gone
	default:
		return failed
	}
}

// mayBeTheEvents reports whether a failure could be the event's fault, so that
// another one may be tried at once: not where no event was looked at, nor where
// the endpoint itself asks for a pause.
func (a answer) mayBeTheEvents() bool {
	return !a.unreachable && a.retryAfter == 0 && a.status != http.StatusTooManyRequests
}

// parseRetryAfter reads the header of that name: seconds, or a date. It returns
// 0 for anything else, and for what is past; at most limit.
func parseRetryAfter(value string, now time.Time, limit time.Duration) time.Duration {
	value = strings.TrimSpace(value)
	if seconds, err := strconv.ParseInt(value, 10, 64); err == nil {
		return time.Duration(min(max(seconds, 0), int64(limit/time.Second))) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), limit)
}

// readable makes text that can be stored and shown of the beginning of a body.
func readable(body []byte, limit int) string {
	body = body[:min(len(body), limit)]
	return strings.ReplaceAll(strings.ToValidUTF8(string(body), "\uFFFD"), "\x00", "\uFFFD")
}
