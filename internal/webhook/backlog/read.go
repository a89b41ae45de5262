package backlog

import (
	"time"

	"github.com/recado-project/recado/internal/eventlog"
)

// Read is a read of the event log that the backlog wants: of the next events of
// the instance, or of the events of one blocked chat.
type Read struct {
	// Chat is the blocked chat whose events from Chat.Sequence up to Chat.Through
	// are wanted; nil: the events of all chats.
	Chat *BlockedChat
	// After and Limit say which events of all chats are wanted, and how many at
	// most. Through is the newest event there is.
	After, Through int64
	Limit          int

	queue *chatQueue // of the blocked chat
	epoch int
}

// WantsRead reports whether BeginRead would return a read.
func (b *Backlog) WantsRead(now time.Time) bool {
	_, limit := b.wants(now)
	return limit > 0 || b.chatDue(now)
}

// BeginRead returns the read that is wanted now; ok is false where there is none.
// Blocked chats come first, because they have waited. The caller ends it with
// FinishRead or FailRead, and begins no other one before.
func (b *Backlog) BeginRead(now time.Time) (read Read, ok bool) {
	if q := b.takeDueChat(now); q != nil {
		block := *q.block
		return Read{Chat: &block, queue: q, epoch: b.epoch}, true
	}
	after, limit := b.wants(now)
	if limit == 0 {
		return Read{}, false
	}
	b.reading = true
	return Read{After: after, Through: b.newest, Limit: limit, epoch: b.epoch}, true
}

// FinishRead takes the events that were read, in order. through is how far the log was
// searched: of a blocked chat, where there were none; of all chats, if events that are not
// taken were left out, else 0.
func (b *Backlog) FinishRead(read Read, events []eventlog.Event, through int64, now time.Time) {
	if read.Chat != nil {
		b.chatRead(read, events, through, now)
		return
	}
	b.reading = false
	if read.epoch != b.epoch {
		b.dropTail()
		return
	}
	b.windowRead(read, events, through)
}

// FailRead notes that a read failed. A blocked chat is read again at until.
func (b *Backlog) FailRead(read Read, until time.Time) {
	if read.Chat == nil {
		b.reading = false
		b.dropTail()
		return
	}
	q := read.queue
	q.place = nowhere
	if q.block != nil {
		q.block.NextTry = until
	}
	b.put(q)
}

func (b *Backlog) dropTail() { b.tail, b.tailBytes = nil, 0 }

// wants returns after which event, and how many, should be read from the log. The
// limit is 0 where there is nothing to read, or no use for it now.
func (b *Backlog) wants(now time.Time) (after int64, limit int) {
	if b.reading || b.newest <= b.end || !b.mayTry(now) {
		return 0, 0
	}
	if b.endpoint.status == StatusBackoff && b.isFull() {
		b.park(now)
	}
	if !b.moreToRead() {
		return 0, 0
	}
	return b.end, maxLoaded - b.loaded
}

func (b *Backlog) moreToRead() bool {
	return b.newest > b.end && !b.isFull() && b.hasRoom()
}

// windowRead takes what was read after an event: all there is up to read.Through, or as
// much as was asked for; or all that is taken up to through.
func (b *Backlog) windowRead(read Read, events []eventlog.Event, through int64) {
	tail := b.tail
	b.dropTail()
	if read.After != b.end {
		return // what was loaded was dropped meanwhile
	}
	whole := true
	for _, event := range events {
		if event.Sequence <= b.end {
			continue
		}
		if !b.hasRoom() {
			whole = false
			break
		}
		b.push(event)
		b.newest = max(b.newest, b.end)
	}
	switch {
	case through > 0 && whole:
		b.end = max(b.end, through)
	case through == 0 && len(events) == 0:
		// Events that are missing from the log were removed by retention.
		b.end = max(b.end, read.Through)
	}
	for _, event := range tail {
		if event.Sequence == b.end+1 && b.hasRoom() {
			b.push(event)
		}
	}
	b.advance()
}

// chatRead takes the events of a blocked chat, the first of those that were not
// delivered.
func (b *Backlog) chatRead(read Read, events []eventlog.Event, through int64, now time.Time) {
	q := read.queue
	q.place = nowhere
	if read.epoch == b.epoch && q.block != nil {
		b.loadChat(q, events, through, now)
	}
	b.put(q)
	b.advance()
}

func (b *Backlog) loadChat(q *chatQueue, events []eventlog.Event, through int64, now time.Time) {
	var loaded []*entry
	for _, event := range events {
		loaded = append(loaded, &entry{sequence: event.Sequence, event: event})
	}
	switch {
	case len(loaded) == 0:
		q.failedAt = 0
		q.block.Sequence = through + 1
		b.advanceBlocked(q, now)
	case loaded[0].sequence != q.block.Sequence:
		q.failedAt = 0
		q.entries = loaded
		b.advanceBlocked(q, now)
	default:
		q.entries = loaded
	}
}
