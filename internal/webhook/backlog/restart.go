// New beginnings: a saved configuration, a resume, a replay, an endpoint that fails.

package backlog

import "time"

// Begin makes the delivery start at the cursor of a state, and forgets everything
// from before.
func (b *Backlog) Begin(state State) {
	b.dropBlocks(func(*BlockedChat) bool { return true })
	b.reset(state.Cursor, false)
	b.endpoint = newEndpoint(state)
	b.newest = max(b.newest, state.Cursor)
	b.changed = true
}

// Resume forgets the failures, so that every event that waits is tried again.
func (b *Backlog) Resume(now time.Time) {
	b.endpoint = newEndpoint(State{Status: StatusOK})
	b.reset(b.cursor, true)
	for _, q := range b.queues {
		if q.block != nil {
			q.block.Failures, q.block.NextTry = 0, now
			b.markChanged(q)
		}
	}
	b.changed = true
}

// Replay moves the cursor back to before first, never forward. It returns the
// first event that is delivered from now on, and how many are delivered again.
func (b *Backlog) Replay(first int64) Replayed {
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

// dropBlocks ends the blocks of chats, whose events must come with the window.
func (b *Backlog) dropBlocks(which func(block *BlockedChat) bool) {
	for _, q := range b.queues {
		if q.block != nil && which(q.block) {
			b.markChanged(q)
			q.block = nil
		}
	}
}

// reset drops the loaded events and moves the cursor. A chat with a request in
// flight waits for its answer. keep remembers which events after the cursor were
// delivered, those in flight included.
func (b *Backlog) reset(cursor int64, keep bool) {
	b.epoch++
	if !keep {
		b.counts = b.epoch
	}
	b.trying = false
	b.cursor = cursor
	b.dropWindow(keep)
	b.ready, b.held, b.blocked = nil, nil, nil
	for _, q := range b.queues {
		q.entries, q.failedAt, q.retryAt = nil, 0, time.Time{}
		if q.place != busy {
			q.place = nowhere
		}
		b.put(q)
	}
}

// dropWindow drops the events that are loaded; they are read again when they can
// be sent.
func (b *Backlog) dropWindow(keep bool) {
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

// DropIdle drops the loaded events while the endpoint fails, so that an endpoint
// that does not answer takes little memory.
func (b *Backlog) DropIdle(now time.Time) {
	if b.inFlight > 0 || b.endpoint.status == StatusOK || b.mayTry(now) || b.endpoint.opinion {
		return
	}
	if len(b.window) == 0 && len(b.ready) == 0 {
		return
	}
	b.dropWindow(true)
	ready := b.ready
	b.ready = nil
	for _, q := range b.queues { // also of those whose chat is being read, which are in no list
		q.entries = nil
	}
	for _, q := range ready { // the others stay, to remember that their heads failed
		q.place = nowhere
		b.put(q)
	}
}
