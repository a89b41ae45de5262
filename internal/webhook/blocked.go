package webhook

import (
	"slices"
	"time"
)

// block lets the cursor pass the events of a chat, which has failed.
func (b *backlog) block(l *lane, now time.Time) {
	head := l.queue[0].event
	l.block = &BlockedChat{
		Chat: l.chat, Sequence: head.Sequence, Through: l.queue[len(l.queue)-1].sequence,
		EventID: head.ID, Kind: head.Kind, Since: now, NextTry: now,
	}
	b.loaded -= len(l.queue)
	for _, e := range l.queue {
		b.loadedBytes -= len(e.event.Data)
		e.finish()
	}
	b.touch(l)
}

// park blocks chats that fill the memory with what can't be sent, where nobody
// knows yet whose fault that is: else no other chat would ever be tried. It
// counts no failure, and is done to few.
func (b *backlog) park(now time.Time) {
	for _, l := range b.ready {
		if l.failedAt == 0 {
			return // there is another one to try
		}
	}
	parked := 0
	for _, l := range b.lanes {
		if l.block != nil && l.block.Failures == 0 {
			parked++
		}
	}
	for ; b.isFull() && parked < maxParked; parked++ {
		var longest *lane
		for _, l := range b.held {
			if longest == nil || len(l.queue) > len(longest.queue) {
				longest = l
			}
		}
		if longest == nil || len(longest.queue) == 0 {
			return
		}
		b.block(longest, now)
		longest.queue, longest.place = nil, nowhere
		b.held = slices.DeleteFunc(b.held, func(l *lane) bool { return l == longest })
		b.put(longest)
	}
}

// laneDue reports whether the time of a blocked chat has come, whose events are
// to be loaded.
func (b *backlog) laneDue(now time.Time) bool {
	if len(b.blocked) == 0 || b.blocked[0].block.NextTry.After(now) || len(b.ready) >= maxWidth || !b.mayTry(now) {
		return false
	}
	if b.endpoint.status == StatusOK {
		return true
	}
	// A chat that is known to fail says little about an endpoint, but where all
	// fail it takes its turn.
	if now.Before(b.endpoint.nextTry) || b.moreToRead() {
		return false
	}
	next := longestUntried(b.ready, b.held)
	return next == nil || next.failedAt > b.blocked[0].failedAt
}

// wantsLane returns a chat that is due, nil for none. The lane is busy until
// laneRead.
func (b *backlog) wantsLane(now time.Time) *lane {
	if !b.laneDue(now) {
		return nil
	}
	l := b.blocked.pop()
	l.place = busy
	return l
}

// laneRead takes the events of a blocked chat, the first of those after its
// block's sequence; through is how far the log was looked through where there are
// none.
func (b *backlog) laneRead(l *lane, epoch int, loaded []*entry, through int64, now time.Time) {
	l.place = nowhere
	if epoch == b.epoch && l.block != nil {
		switch {
		case len(loaded) == 0:
			l.failedAt = 0
			l.block.Sequence = through + 1
			b.goOn(l, now)
		case loaded[0].sequence != l.block.Sequence:
			l.failedAt = 0
			l.queue = loaded
			b.goOn(l, now)
		default:
			l.queue = loaded
		}
	}
	b.put(l)
	b.advance()
}

// laneFailed puts a lane back whose events could not be read.
func (b *backlog) laneFailed(l *lane, until time.Time) {
	l.place = nowhere
	if l.block != nil {
		l.block.NextTry = until
	}
	b.put(l)
}

// blockedChats is how many chats wait for an event that is to blame.
func (b *backlog) blockedChats() int {
	n := 0
	for _, l := range b.lanes {
		if l.block != nil {
			n++
		}
	}
	return n
}

// delivered returns the last event of which nothing before it, nor it itself,
// will be sent.
func (b *backlog) delivered() int64 {
	through := b.cursor
	for _, l := range b.lanes {
		if l.block != nil {
			through = min(through, l.block.Sequence-1)
		}
	}
	return through
}
