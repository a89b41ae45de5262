// Which event is sent next.

package backlog

import (
	"slices"
	"time"
)

// mayTry reports whether the endpoint may be sent anything now.
func (b *Backlog) mayTry(now time.Time) bool {
	switch b.endpoint.status {
	case StatusOK:
		return true
	case StatusBackoff:
		return !b.trying && (b.endpoint.opinion || !now.Before(b.endpoint.nextTry))
	default:
		return false
	}
}

// Candidate is a chat whose next event can be sent now, for Start.
type Candidate struct {
	queue   *chatQueue
	purpose purpose
}

// Choose returns the chat whose next event is to be sent now; ok is false where
// there is none. It is valid until the next call that changes the backlog.
func (b *Backlog) Choose(now time.Time) (candidate Candidate, ok bool) {
	q, why := b.choose(now)
	return Candidate{queue: q, purpose: why}, q != nil
}

func (b *Backlog) choose(now time.Time) (*chatQueue, purpose) {
	if b.inFlight >= b.endpoint.width || !b.mayTry(now) {
		return nil, toDeliver
	}
	if b.endpoint.status == StatusOK {
		if len(b.held) > 0 {
			b.release(func(q *chatQueue) bool { return !now.Before(q.retryAt) })
		}
		if len(b.ready) == 0 {
			return nil, toDeliver
		}
		return b.ready[0], toDeliver
	}
	if !now.Before(b.endpoint.nextTry) {
		q := longestUntried(b.ready, b.held)
		if q != nil && q.failedAt != 0 && b.moreToRead() {
			return nil, toProbe // there may be one that has not failed
		}
		return q, toProbe
	}
	for _, q := range b.ready {
		if q.failedAt == 0 && q.block == nil {
			return q, toCompare
		}
	}
	return nil, toDeliver
}

// longestUntried returns the chat that failed longest ago, so that probes rotate
// over the chats.
func longestUntried(lists ...[]*chatQueue) *chatQueue {
	var best *chatQueue
	for _, list := range lists {
		for _, q := range list {
			if len(q.entries) > 0 && (best == nil || q.failedAt < best.failedAt) {
				best = q
			}
		}
	}
	return best
}

// Start makes a request of the next event of a chat. The caller ends it with
// Finish.
func (b *Backlog) Start(candidate Candidate) Job {
	q, why := candidate.queue, candidate.purpose
	if len(b.ready) > 0 && b.ready[0] == q {
		b.ready[0] = nil
		b.ready = b.ready[1:]
	} else {
		same := func(other *chatQueue) bool { return other == q }
		b.ready = slices.DeleteFunc(b.ready, same)
		b.held = slices.DeleteFunc(b.held, same)
	}
	q.place = busy
	b.inFlight++
	b.tick++
	if why != toDeliver {
		b.trying, b.endpoint.opinion = true, false
	}
	return Job{queue: q, entry: q.entries[0], Event: q.entries[0].event, purpose: why, epoch: b.epoch, tick: b.tick}
}

// release puts chat queues that were held where they belong now.
func (b *Backlog) release(free func(q *chatQueue) bool) {
	kept := b.held[:0]
	for _, q := range b.held {
		switch {
		case !free(q):
			kept = append(kept, q)
		case len(q.entries) > 0:
			q.place = inReady
			b.ready = append(b.ready, q)
		default:
			q.place = nowhere // its head is loaded again with the window
		}
	}
	clear(b.held[len(kept):])
	b.held = kept
}

// NextWake returns when the next event can be sent if nothing else happens before;
// the zero time where no event waits for a time.
func (b *Backlog) NextWake() time.Time {
	var wake time.Time
	earliest := func(at time.Time) {
		if wake.IsZero() || at.Before(wake) {
			wake = at
		}
	}
	switch b.endpoint.status {
	case StatusOK:
		for _, q := range b.held {
			earliest(q.retryAt)
		}
		if len(b.blocked) > 0 {
			earliest(b.blocked[0].block.NextTry)
		}
	case StatusBackoff:
		switch {
		case b.trying:
		case b.newest > b.cursor || len(b.ready) > 0:
			earliest(b.endpoint.nextTry)
		case len(b.blocked) > 0:
			earliest(later(b.endpoint.nextTry, b.blocked[0].block.NextTry))
		}
	case StatusSuspended:
	}
	return wake
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
