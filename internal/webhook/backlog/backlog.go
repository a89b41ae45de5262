// Package backlog decides what a webhook delivers next, and what each answer of
// the endpoint means. It is pure: it does no input or output, reads no clock, and
// has no lock; the pump of package webhook does all that.
//
// Failures are blamed by evidence. Each request and each failure has a tick. A
// failure counts against its event if another event, sent after the event's
// previous failure, succeeded; otherwise it counts against the endpoint.
package backlog

import (
	"math/rand/v2"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

const (
	// maxLoaded bounds how many events of a webhook are in memory.
	maxLoaded = 256
	// MaxLoadedBytes bounds their data; one event is loaded whatever its size.
	MaxLoadedBytes = 1 << 20
	// maxAhead bounds how far delivery runs ahead of the cursor while an event is
	// slow to be delivered.
	maxAhead = 8_192
	// maxParked bounds how many chats are blocked though it is not known that their
	// events are at fault. Each failure of the endpoint in a row allows one more.
	maxParked = 8
)

// Backlog is the events that a webhook still has to deliver. Its methods are called
// by one goroutine at a time.
type Backlog struct {
	schedule *Schedule
	random   func() float64
	takes    func(event eventlog.Event) bool // nil: every event
	endpoint endpoint

	cursor int64 // everything up to it is done, or belongs to a blocked chat
	end    int64 // the last event that was looked at
	newest int64 // the newest event of the instance
	window []*entry
	loaded int // entries of the window that are not done
	// loadedBytes is the size of the data of these entries, and tailBytes of the tail.
	loadedBytes, tailBytes int
	// acked are the events after end that were delivered before the window was
	// dropped.
	acked map[int64]struct{}
	// reading is set while the window is being read; tail holds the events that were
	// appended meanwhile, so that they need no read of their own.
	reading bool
	tail    []eventlog.Event

	queues  map[gateway.JID]*chatQueue
	ready   []*chatQueue
	held    []*chatQueue
	blocked blockedQueues

	inFlight int
	trying   bool // a request that tests the endpoint is in flight
	tick     int64
	// lastSuccess is the tick of the latest request that succeeded.
	lastSuccess int64
	// epoch changes when the backlog is reset: failures from before are ignored.
	// Successes count if they belong to the epoch counts or a later one.
	epoch  int
	counts int

	// What has to be saved.
	changed      bool
	skipped      bool // the cursor has passed nothing but events that are not taken
	changedChats map[gateway.JID]struct{}
	deadLetters  []DeadLetter
	revivedAfter *int64
}

// purpose says why a request is sent.
type purpose int

const (
	toDeliver purpose = iota
	toCompare         // whether an event of another chat succeeds
	toProbe           // whether the endpoint works again
)

// Job is a request to send.
type Job struct {
	Event eventlog.Event

	queue   *chatQueue
	entry   *entry
	purpose purpose
	epoch   int
	tick    int64
}

// New returns the backlog of a webhook that was saved with a state and blocked
// chats. newest is the newest event of the instance.
func New(schedule *Schedule, state State, blocked []BlockedChat, newest int64) Backlog {
	b := Backlog{
		schedule: schedule, random: rand.Float64, endpoint: newEndpoint(state),
		cursor: state.Cursor, end: state.Cursor, newest: max(newest, state.Cursor),
	}
	for _, block := range blocked {
		q := b.queueOf(block.Chat)
		q.block = &block
		b.blocked.push(q)
	}
	return b
}

// Append takes events that were just appended to the log, in order.
func (b *Backlog) Append(events []eventlog.Event) {
	for _, event := range events {
		b.newest = event.Sequence
		switch {
		case event.Sequence == b.end+1 && !b.isTaken(event):
			b.end = event.Sequence
		case b.endpoint.status != StatusOK && !b.endpoint.opinion:
			// It stays in the log until the endpoint works again.
		case event.Sequence == b.end+1 && b.hasRoom():
			b.push(event)
		case b.reading && len(b.tail) < maxLoaded && b.tailBytes < MaxLoadedBytes:
			b.tail = append(b.tail, event)
			b.tailBytes += len(event.Data)
		}
	}
	b.advance()
}

// Filter makes the backlog take only the events that takes reports true for; nil: all. It is
// asked of events that are looked at from now on.
func (b *Backlog) Filter(takes func(event eventlog.Event) bool) { b.takes = takes }

func (b *Backlog) isTaken(event eventlog.Event) bool { return b.takes == nil || b.takes(event) }

// Skip notes the newest event of the instance without delivering it.
func (b *Backlog) Skip(newest int64) { b.newest = newest }

// Loaded returns how many events are in memory.
func (b *Backlog) Loaded() int { return b.loaded + len(b.tail) }

// InFlight returns how many requests are in flight.
func (b *Backlog) InFlight() int { return b.inFlight }

// Newest returns the sequence number of the newest event of the instance.
func (b *Backlog) Newest() int64 { return b.newest }

// Status says how the endpoint is doing.
func (b *Backlog) Status() Status { return b.endpoint.status }

// Problem says why the endpoint failed the last time; empty where that is not
// known.
func (b *Backlog) Problem() string { return b.endpoint.problem }

func (b *Backlog) hasRoom() bool {
	return b.loaded < maxLoaded && b.loadedBytes < MaxLoadedBytes && len(b.window) < maxAhead
}

// isFull reports whether more than half of what may be loaded is.
func (b *Backlog) isFull() bool { return b.loaded > maxLoaded/2 || b.loadedBytes > MaxLoadedBytes/2 }

func (b *Backlog) push(event eventlog.Event) {
	b.end = event.Sequence
	if !b.isTaken(event) {
		return
	}
	e := &entry{sequence: event.Sequence, event: event}
	b.window = append(b.window, e)
	if _, acked := b.acked[event.Sequence]; acked {
		delete(b.acked, event.Sequence)
		e.markDone()
		return
	}
	q := b.queueOf(event.Chat)
	if q.block != nil {
		q.block.Through = max(q.block.Through, event.Sequence)
		b.markChanged(q)
		e.markDone()
		return
	}
	b.loaded++
	b.loadedBytes += len(event.Data)
	q.entries = append(q.entries, e)
	b.put(q)
}

func (b *Backlog) queueOf(chat gateway.JID) *chatQueue {
	q := b.queues[chat]
	if q == nil {
		q = &chatQueue{chat: chat}
		if b.queues == nil {
			b.queues = map[gateway.JID]*chatQueue{}
		}
		b.queues[chat] = q
	}
	return q
}

// put moves a chat queue that is nowhere to where it belongs.
func (b *Backlog) put(q *chatQueue) {
	switch {
	case q.place != nowhere:
	case q.block != nil && len(q.entries) == 0:
		b.blocked.push(q)
	case len(q.entries) == 0 && q.failedAt == 0:
		delete(b.queues, q.chat)
	case q.block == nil && q.failedAt > b.lastSuccess:
		q.place = inHeld
		b.held = append(b.held, q)
	case len(q.entries) > 0:
		q.place = inReady
		b.ready = append(b.ready, q)
	}
}
