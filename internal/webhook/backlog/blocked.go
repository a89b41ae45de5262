// Chats that are blocked because one of their events fails.

package backlog

import (
	"slices"
	"time"
)

// block marks a chat as blocked, so that the cursor can pass its events.
func (b *Backlog) block(q *chatQueue, now time.Time) {
	head := q.entries[0].event
	q.block = &BlockedChat{
		Chat: q.chat, Sequence: head.Sequence, Through: q.entries[len(q.entries)-1].sequence,
		EventID: head.ID, Kind: head.Kind, Since: now, NextTry: now,
	}
	b.loaded -= len(q.entries)
	for _, e := range q.entries {
		b.loadedBytes -= len(e.event.Data)
		e.markDone()
	}
	b.markChanged(q)
}

// park blocks chats that fill the memory with events that can't be sent, while it
// is not known whose fault that is: otherwise no other chat would ever be tried. It
// counts no failure. How many chats it blocks is bounded, so that an endpoint that is
// down does not block them all, and the bound grows with each failure, so that a chat
// that can be delivered is found behind any number of others.
func (b *Backlog) park(now time.Time) {
	for _, q := range b.ready {
		if q.failedAt == 0 {
			return // there is another one to try
		}
	}
	parked := 0
	for _, q := range b.queues {
		if q.block != nil && q.block.Failures == 0 {
			parked++
		}
	}
	for ; b.isFull() && parked < maxParked+b.endpoint.failures; parked++ {
		var longest *chatQueue
		for _, q := range b.held {
			if longest == nil || len(q.entries) > len(longest.entries) {
				longest = q
			}
		}
		if longest == nil || len(longest.entries) == 0 {
			return
		}
		b.block(longest, now)
		longest.entries, longest.place = nil, nowhere
		b.held = slices.DeleteFunc(b.held, func(q *chatQueue) bool { return q == longest })
		b.put(longest)
	}
}

// End blocks the chats whose next event comes before one that was delivered, so that the cursor passes
// that one, and it does not come again after the next start. It counts no failure. Nothing is asked of the
// backlog afterwards but its progress.
func (b *Backlog) End(now time.Time) {
	last := b.cursor
	for _, e := range b.window {
		if e.done {
			last = e.sequence
		}
	}
	for _, q := range b.queues {
		// What comes after the last one that was delivered is left for the window.
		q.entries = slices.DeleteFunc(q.entries, func(e *entry) bool { return e.sequence > last })
		if q.block == nil && len(q.entries) > 0 {
			b.block(q, now)
		}
	}
	b.advance()
}

// chatDue reports whether it is time to read the events of a blocked chat and try
// them again.
func (b *Backlog) chatDue(now time.Time) bool {
	if len(b.blocked) == 0 || b.blocked[0].block.NextTry.After(now) || len(b.ready) >= maxWidth || !b.mayTry(now) {
		return false
	}
	if b.endpoint.status == StatusOK {
		return true
	}
	// A chat that is known to fail says little about the endpoint. It is tried only
	// where all others have failed more recently.
	if now.Before(b.endpoint.nextTry) || b.moreToRead() {
		return false
	}
	next := longestUntried(b.ready, b.held)
	return next == nil || next.failedAt > b.blocked[0].failedAt
}

// takeDueChat returns a blocked chat whose events are to be read, nil for none.
// It is busy until the read ends.
func (b *Backlog) takeDueChat(now time.Time) *chatQueue {
	if !b.chatDue(now) {
		return nil
	}
	q := b.blocked.pop()
	q.place = busy
	return q
}

// BlockedChats returns how many chats are blocked.
func (b *Backlog) BlockedChats() int {
	n := 0
	for _, q := range b.queues {
		if q.block != nil {
			n++
		}
	}
	return n
}

// Delivered returns the sequence number up to which no event will be sent any more.
func (b *Backlog) Delivered() int64 {
	through := b.cursor
	for _, q := range b.queues {
		if q.block != nil {
			through = min(through, q.block.Sequence-1)
		}
	}
	return through
}
