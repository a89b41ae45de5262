package webhook

import (
	"time"
)

// begin makes the delivery begin anew at a cursor, with nothing of before.
func (b *backlog) begin(state State) {
	b.dropBlocks(func(*BlockedChat) bool { return true })
	b.reset(state.Cursor, false)
	b.endpoint = newEndpoint(state)
	b.newest = max(b.newest, state.Cursor)
	b.changed = true
}

// resume forgets the failures: everything that waits is tried again.
func (b *backlog) resume(now time.Time) {
	b.endpoint = newEndpoint(State{Status: StatusOK})
	b.reset(b.cursor, true)
	for _, l := range b.lanes {
		if l.block != nil {
			l.block.Failures, l.block.NextTry = 0, now
			b.touch(l)
		}
	}
	b.changed = true
}

// replay moves the cursor back to before first, never forward. It returns the
// first event that is delivered from now on, and how many come again.
func (b *backlog) replay(first int64) Replayed {
	cursor := max(0, min(b.cursor, first-1))
	again := b.cursor - cursor
	b.dropBlocks(func(block *BlockedChat) bool { return block.Sequence > cursor })
	kept := b.deadLetters[:0]
	for _, letter := range b.deadLetters {
		if letter.Sequence <= cursor {
			kept = append(kept, letter)
		}
	}
	b.deadLetters = kept
	if b.revivedAfter == nil || cursor < *b.revivedAfter {
		b.revivedAfter = &cursor
	}
	b.reset(cursor, false)
	b.changed = true
	return Replayed{FromSequence: cursor + 1, Events: again}
}

// dropBlocks ends the waiting of chats; their events must come by the window.
func (b *backlog) dropBlocks(which func(block *BlockedChat) bool) {
	for _, l := range b.lanes {
		if l.block != nil && which(l.block) {
			b.touch(l)
			l.block = nil
		}
	}
}

// reset drops what is loaded and moves the cursor. The chats of what is in flight
// wait for it. keep remembers what was delivered past the cursor, and what will
// have been.
func (b *backlog) reset(cursor int64, keep bool) {
	b.epoch++
	if !keep {
		b.counts = b.epoch
	}
	b.trying = false
	b.cursor = cursor
	b.dropWindow(keep)
	b.ready, b.held, b.blocked = nil, nil, nil
	for _, l := range b.lanes {
		l.queue, l.failedAt, l.retryAt = nil, 0, time.Time{}
		if l.place != busy {
			l.place = nowhere
		}
		b.put(l)
	}
}

// dropWindow drops what is loaded past the cursor; it is read again when it is
// its turn.
func (b *backlog) dropWindow(keep bool) {
	if !keep {
		b.acked = nil
	}
	for _, e := range b.window {
		if e.done && keep {
			if b.acked == nil {
				b.acked = map[int64]struct{}{}
			}
			b.acked[e.sequence] = struct{}{}
		}
	}
	b.window, b.tail, b.loaded, b.end = nil, nil, 0, b.cursor
	b.loadedBytes, b.tailBytes = 0, 0
}

// rest drops what is loaded where it is of no use for a while, so that an
// endpoint that does not answer takes little memory.
func (b *backlog) rest(now time.Time) {
	if b.inFlight > 0 || b.endpoint.status == StatusOK || b.mayTry(now) || b.endpoint.opinion {
		return
	}
	if len(b.window) == 0 && len(b.ready) == 0 {
		return
	}
	b.dropWindow(true)
	ready := b.ready
	b.ready = nil
	for _, l := range b.held {
		l.queue = nil // it stays known that they failed
	}
	for _, l := range ready {
		l.queue, l.place = nil, nowhere
		b.put(l)
	}
}
