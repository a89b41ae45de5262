// The newest attempts of a webhook, until they are saved.

package webhook

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/webhook/backlog"
)

// maxAttempts is how many attempts of a webhook are kept.
const maxAttempts = 100

// maxPiece is how much of an answer's body is kept of an attempt.
const maxPiece = 256

// attempts holds the newest attempts that were not saved yet.
type attempts struct {
	made    int64 // in all
	pending []Attempt
	oldest  int // where pending begins, once it is full
}

func (h *attempts) add(attempt Attempt) {
	h.made++
	attempt.Number = h.made
	if len(h.pending) < maxAttempts {
		h.pending = append(h.pending, attempt)
		return
	}
	h.pending[h.oldest] = attempt
	h.oldest = (h.oldest + 1) % maxAttempts
}

// take returns the newest attempts, limit at most, in order, and removes all.
func (h *attempts) take(limit int) []Attempt {
	if len(h.pending) == 0 {
		return nil
	}
	all := slices.Concat(h.pending[h.oldest:], h.pending[:h.oldest])
	h.pending, h.oldest = nil, 0
	return all[max(0, len(all)-limit):]
}

// putBack undoes take, unless newer attempts have taken the room.
func (h *attempts) putBack(taken []Attempt) {
	all := slices.Concat(taken, h.take(maxAttempts))
	h.pending = all[max(0, len(all)-maxAttempts):]
}

// answer is what became of a request to an endpoint.
type answer struct {
	Answer backlog.Answer

	duration time.Duration
	body     []byte // its beginning
}

// outcome says in a word what came of the request.
func (a answer) outcome() string {
	switch {
	case a.Answer.Delivered():
		return "delivered"
	case a.Answer.Status != 0:
		return "refused"
	case a.Answer.TimedOut:
		return "timeout"
	case a.Answer.Unreachable:
		return "unreachable"
	}
	return "broken" // the connection ended without an answer
}

// parseRetryAfter reads the header of that name: seconds, or a date. It returns
// 0 for anything else and for a time in the past, and at most limit.
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

// readable turns the beginning of a body into text that can be stored and shown.
func readable(body []byte, limit int) string {
	body = body[:min(len(body), limit)]
	return strings.ReplaceAll(strings.ToValidUTF8(string(body), "\uFFFD"), "\x00", "\uFFFD")
}
