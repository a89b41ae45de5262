package webhook

import (
	"time"
)

// settle takes the answer to a job.
func (b *backlog) settle(j job, a answer, now time.Time) {
	b.inFlight--
	j.lane.place = nowhere
	if j.epoch != b.epoch {
		if a.verdict() == delivered && j.epoch >= b.counts {
			b.acknowledge(j, now)
		}
		b.put(j.lane)
		b.advance()
		return
	}
	if j.purpose != toDeliver {
		b.trying = false
	}
	switch a.verdict() {
	case delivered:
		b.succeeded(j, now)
	case failed:
		b.failed(j, a, now)
	case gone:
		b.endpoint.suspend(ReasonGone, now)
		b.changed = true
	case aborted:
	}
	b.put(j.lane)
	b.advance()
}

// acknowledge notes that an event was delivered which was in flight when the
// backlog began anew. It may have been loaded again.
func (b *backlog) acknowledge(j job, now time.Time) {
	l := j.lane
	switch {
	case l.block != nil:
		if l.block.Sequence == j.event.Sequence {
			l.block.Sequence++
			b.goOn(l, now)
		}
	case len(l.queue) > 0 && l.queue[0].sequence == j.event.Sequence:
		j.entry = l.queue[0]
		b.passHead(j, now)
	case j.event.Sequence > b.end:
		if b.acked == nil {
			b.acked = map[int64]struct{}{}
		}
		b.acked[j.event.Sequence] = struct{}{}
	}
}

func (b *backlog) succeeded(j job, now time.Time) {
	b.lastSuccess = max(b.lastSuccess, j.tick)
	if b.endpoint.succeeded() {
		b.changed = true
	}
	if len(b.held) > 0 {
		b.release(func(l *lane) bool { return l.failedAt < b.lastSuccess })
	}
	b.passHead(j, now)
}

func (b *backlog) failed(j job, a answer, now time.Time) {
	l := j.lane
	counted := l.failedAt != 0 && b.lastSuccess > l.failedAt
	b.tick++
	l.failedAt = b.tick
	if counted {
		b.blame(j, a, now)
		return
	}
	before := b.endpoint
	b.endpoint.failed(j.purpose, a, now, b.schedule, b.random())
	b.changed = b.changed || before != b.endpoint
	l.retryAt = b.endpoint.nextTry
	if l.block != nil {
		l.queue = nil
		l.block.NextTry = now.Add(backoff(b.schedule.Event, l.block.Failures, b.random()))
		l.block.Status, l.block.Error = a.status, a.problem
		b.touch(l)
	}
}

// blame counts a failure against the event: its chat waits, or goes on without
// it.
func (b *backlog) blame(j job, a answer, now time.Time) {
	l := j.lane
	if l.block == nil {
		b.block(l, now)
	}
	l.block.Failures++
	l.block.Status, l.block.Error = a.status, a.problem
	l.block.NextTry = now.Add(backoff(b.schedule.Event, l.block.Failures, b.random()))
	b.touch(l)
	if l.block.Failures <= len(b.schedule.Event) {
		l.queue = nil
		return
	}
	b.deadLetters = append(b.deadLetters, DeadLetter{
		Sequence: j.event.Sequence, EventID: j.event.ID, Kind: j.event.Kind, Chat: l.chat,
		Status: a.status, Error: a.problem, At: now,
	})
	b.passHead(j, now)
}

// passHead goes on after the head of a lane.
func (b *backlog) passHead(j job, now time.Time) {
	l := j.lane
	l.queue[0] = nil
	l.queue = l.queue[1:]
	l.failedAt, l.retryAt = 0, time.Time{}
	if len(l.queue) == 0 {
		l.queue = nil
	}
	if l.block == nil {
		b.loadedBytes -= len(j.entry.event.Data)
		j.entry.finish()
		b.loaded--
		return
	}
	l.block.Sequence = j.event.Sequence + 1
	b.goOn(l, now)
}

// goOn goes on with a blocked chat whose failing event is behind it.
func (b *backlog) goOn(l *lane, now time.Time) {
	block := l.block
	b.touch(l)
	if block.Sequence > block.Through {
		l.block = nil
		return
	}
	block.Failures, block.Status, block.Error, block.NextTry = 0, 0, "", now
	if len(l.queue) > 0 {
		head := l.queue[0].event
		block.Sequence, block.EventID, block.Kind = head.Sequence, head.ID, head.Kind
	}
}

// advance moves the cursor past what is done.
func (b *backlog) advance() {
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
	if b.cursor != before {
		b.changed = true
	}
	if b.cursor == b.newest && b.inFlight == 0 && len(b.lanes) == len(b.blocked) {
		b.ready, b.held, b.acked = nil, nil, nil // an idle webhook is small
		if len(b.lanes) == 0 {
			b.lanes = nil
		}
	}
}
