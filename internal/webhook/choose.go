package webhook

import (
	"slices"
	"time"
)

// mayTry reports whether anything may be sent at all.
func (b *backlog) mayTry(now time.Time) bool {
	switch b.endpoint.status {
	case StatusOK:
		return true
	case StatusBackoff:
		return !b.trying && (b.endpoint.opinion || !now.Before(b.endpoint.nextTry))
	default:
		return false
	}
}

// choose returns the lane whose head is to be sent next, nil for none.
func (b *backlog) choose(now time.Time) (*lane, purpose) {
	if b.inFlight >= b.endpoint.width || !b.mayTry(now) {
		return nil, toDeliver
	}
	if b.endpoint.status == StatusOK {
		if len(b.held) > 0 {
			b.release(func(l *lane) bool { return !now.Before(l.retryAt) })
		}
		if len(b.ready) == 0 {
			return nil, toDeliver
		}
		return b.ready[0], toDeliver
	}
	if !now.Before(b.endpoint.nextTry) {
		l := longestUntried(b.ready, b.held)
		if l != nil && l.failedAt != 0 && b.moreToRead() {
			return nil, toProbe // there may be one that has not failed
		}
		return l, toProbe
	}
	for _, l := range b.ready {
		if l.failedAt == 0 && l.block == nil {
			return l, toCompare
		}
	}
	return nil, toDeliver
}

// longestUntried is how probes rotate over the chats.
func longestUntried(lists ...[]*lane) *lane {
	var best *lane
	for _, list := range lists {
		for _, l := range list {
			if len(l.queue) > 0 && (best == nil || l.failedAt < best.failedAt) {
				best = l
			}
		}
	}
	return best
}

// start takes the head of a lane that was chosen.
func (b *backlog) start(l *lane, why purpose) job {
	if len(b.ready) > 0 && b.ready[0] == l {
		b.ready[0] = nil
		b.ready = b.ready[1:]
	} else {
		same := func(other *lane) bool { return other == l }
		b.ready = slices.DeleteFunc(b.ready, same)
		b.held = slices.DeleteFunc(b.held, same)
	}
	l.place = busy
	b.inFlight++
	b.tick++
	if why != toDeliver {
		b.trying, b.endpoint.opinion = true, false
	}
	return job{lane: l, entry: l.queue[0], event: l.queue[0].event, purpose: why, epoch: b.epoch, tick: b.tick}
}

// release puts lanes that were held where they belong now.
func (b *backlog) release(free func(l *lane) bool) {
	kept := b.held[:0]
	for _, l := range b.held {
		switch {
		case !free(l):
			kept = append(kept, l)
		case len(l.queue) > 0:
			l.place = inReady
			b.ready = append(b.ready, l)
		default:
			l.place = nowhere // its head comes when the window is loaded
		}
	}
	clear(b.held[len(kept):])
	b.held = kept
}

// nextWake returns when something can be sent without anything else happening;
// the zero time where nothing waits for a time.
func (b *backlog) nextWake() time.Time {
	var wake time.Time
	earliest := func(at time.Time) {
		if wake.IsZero() || at.Before(wake) {
			wake = at
		}
	}
	switch b.endpoint.status {
	case StatusOK:
		for _, l := range b.held {
			earliest(l.retryAt)
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
