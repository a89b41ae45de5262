// The newest attempts of a webhook, until they are saved.

package webhook

import "slices"

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
