// What an answer means.

package backlog

import "time"

// Finish takes the answer to a request that Start made.
func (b *Backlog) Finish(j Job, a Answer, now time.Time) {
	b.inFlight--
	j.queue.place = nowhere
	if j.epoch != b.epoch {
		if verdict := a.verdict(); (verdict == delivered || verdict == unsaid) && j.epoch >= b.counts {
			b.acknowledge(j, now)
		}
		b.put(j.queue)
		b.advance()
		return
	}
	if j.purpose != toDeliver {
		b.trying = false
	}
	switch a.verdict() {
	case delivered:
		b.succeeded(j, now)
	case unsaid:
		b.passHead(j, now)
	case refused:
		b.giveUp(j, a, now)
		b.succeeded(j, now)
	case failed:
		b.failed(j, a, now)
	case gone:
		b.endpoint.suspend(ReasonGone, now)
		b.changed = true
	case aborted:
	}
	b.put(j.queue)
	b.advance()
}

// acknowledge notes that an event was delivered that was in flight when the backlog
// was reset. It may have been loaded again since.
func (b *Backlog) acknowledge(j Job, now time.Time) {
	q := j.queue
	switch {
	case q.block != nil:
		if q.block.Sequence == j.Event.Sequence {
			q.block.Sequence++
			b.advanceBlocked(q, now)
		}
	case len(q.entries) > 0 && q.entries[0].sequence == j.Event.Sequence:
		j.entry = q.entries[0]
		b.passHead(j, now)
	case j.Event.Sequence > b.end:
		if b.acked == nil {
			b.acked = map[int64]struct{}{}
		}
		b.acked[j.Event.Sequence] = struct{}{}
	}
}

func (b *Backlog) succeeded(j Job, now time.Time) {
	b.lastSuccess = max(b.lastSuccess, j.tick)
	if b.endpoint.succeeded() {
		b.changed = true
	}
	if len(b.held) > 0 {
		b.release(func(q *chatQueue) bool { return q.failedAt < b.lastSuccess })
	}
	b.passHead(j, now)
}

func (b *Backlog) failed(j Job, a Answer, now time.Time) {
	q := j.queue
	counted := q.failedAt != 0 && b.lastSuccess > q.failedAt
	b.tick++
	q.failedAt = b.tick
	if counted {
		b.blame(j, a, now)
		return
	}
	before := b.endpoint
	b.endpoint.failed(j.purpose, a, now, b.schedule, b.random())
	b.changed = b.changed || before != b.endpoint
	q.retryAt = b.endpoint.nextTry
	if q.block != nil {
		q.entries = nil
		q.block.NextTry = now.Add(backoff(b.schedule.Event, q.block.Failures, b.random()))
		q.block.Status, q.block.Error = a.Status, a.Problem
		b.markChanged(q)
	}
}

// blame counts a failure against the event: its chat is blocked, and after the
// last try the event becomes a dead letter and the chat goes on without it.
func (b *Backlog) blame(j Job, a Answer, now time.Time) {
	q := j.queue
	if q.block == nil {
		b.block(q, now)
	}
	q.block.Failures++
	q.block.Status, q.block.Error = a.Status, a.Problem
	q.block.NextTry = now.Add(backoff(b.schedule.Event, q.block.Failures, b.random()))
	b.markChanged(q)
	if q.block.Failures <= len(b.schedule.Event) {
		q.entries = nil
		return
	}
	b.giveUp(j, a, now)
	b.passHead(j, now)
}

// giveUp makes an event a dead letter.
func (b *Backlog) giveUp(j Job, a Answer, now time.Time) {
	b.deadLetters = append(b.deadLetters, DeadLetter{
		Sequence: j.Event.Sequence, EventID: j.Event.ID, Kind: j.Event.Kind, Chat: j.queue.chat,
		Status: a.Status, Error: a.Problem, At: now,
	})
}

// passHead removes the head of a chat queue, which needs no more tries.
func (b *Backlog) passHead(j Job, now time.Time) {
	q := j.queue
	q.entries[0] = nil
	q.entries = q.entries[1:]
	q.failedAt, q.retryAt = 0, time.Time{}
	if len(q.entries) == 0 {
		q.entries = nil
	}
	if q.block == nil {
		b.loadedBytes -= len(j.entry.event.Data)
		j.entry.markDone()
		b.loaded--
		return
	}
	q.block.Sequence = j.Event.Sequence + 1
	b.advanceBlocked(q, now)
}

// advanceBlocked goes on with a blocked chat after its failing event.
func (b *Backlog) advanceBlocked(q *chatQueue, now time.Time) {
	block := q.block
	b.markChanged(q)
	if block.Sequence > block.Through {
		q.block = nil
		return
	}
	block.Failures, block.Status, block.Error, block.NextTry = 0, 0, "", now
	if len(q.entries) > 0 {
		head := q.entries[0].event
		block.Sequence, block.EventID, block.Kind = head.Sequence, head.ID, head.Kind
	}
}

// advance moves the cursor past the events that are done.
func (b *Backlog) advance() {
	before := b.cursor
	n := 0
	for n < len(b.window) && b.window[n].done {
		b.cursor = b.window[n].sequence
		b.window[n] = nil
		n++
	}
	b.window = b.window[n:]
	if len(b.window) == 0 {
		b.window, b.cursor = nil, b.end
	}
	switch {
	case n > 0:
		b.changed = true
	case b.cursor != before:
		b.skipped = true
	}
	if b.cursor == b.newest && b.inFlight == 0 && len(b.queues) == len(b.blocked) {
		b.ready, b.held, b.acked = nil, nil, nil // an idle webhook is small
		if len(b.queues) == 0 {
			b.queues = nil
		}
	}
}
