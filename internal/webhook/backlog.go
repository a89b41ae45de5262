package webhook

import (
	"math/rand/v2"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

const (
	// maxLoaded bounds how many events of a webhook are in memory, and maxLoadedBytes
	// their data; one event is there whatever its size.
	maxLoaded      = 256
	maxLoadedBytes = 1 << 20
	// maxAhead bounds how far delivery runs ahead of the cursor, past an event
	// that takes its time.
	maxAhead = 8_192
	// maxParked bounds how many chats are blocked without blame.
	maxParked = 8
	// maxLane is how many events of a blocked chat are loaded at once, and
	// maxScan how much of the log is looked through for them at once.
	maxLane = 16
	maxScan = 20_000
)

// backlog decides what is sent to an endpoint, and what an answer means. It does
// no input or output and takes no time of its own; the pump does all that, and
// keeps calls apart.
//
// Whose fault a failure is, is decided by evidence. Each request and each
// failure has a tick. A failure is counted against its event if another event,
// sent after its failure before, succeeded; else it is the endpoint's.
type backlog struct {
	schedule *Schedule
	random   func() float64
	endpoint endpoint

	cursor int64 // everything up to it is done, or belongs to a blocked chat
	end    int64 // the last event that was looked at
	newest int64 // the newest event there is
	window []*entry
	loaded int // entries of the window that are not done
	// loadedBytes is the size of the data of these entries, and tailBytes of the tail.
	loadedBytes, tailBytes int
	// acked are events past the end that were delivered before the window was
	// dropped.
	acked map[int64]struct{}
	// reading says that a read is under way, and tail is what was appended
	// meanwhile, so that it need not be read as well.
	reading bool
	tail    []eventlog.Event

	lanes   map[gateway.JID]*lane
	ready   []*lane
	held    []*lane
	blocked blockedLanes

	inFlight int
	trying   bool // a request that is to try the endpoint is in flight
	tick     int64
	// lastSuccess is the tick of the latest request that succeeded.
	lastSuccess int64
	// epoch changes when the backlog begins anew: failures from before count for
	// nothing. Successes count where they are of the epoch counts, or later.
	epoch  int
	counts int

	// What is to be saved.
	changed      bool
	touched      map[gateway.JID]struct{}
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

// job is a request to send.
type job struct {
	lane    *lane
	entry   *entry
	event   eventlog.Event
	purpose purpose
	epoch   int
	tick    int64
}

func newBacklog(schedule *Schedule, saved Saved) backlog {
	b := backlog{
		schedule: schedule, random: rand.Float64, endpoint: newEndpoint(saved.State),
		cursor: saved.State.Cursor, end: saved.State.Cursor, newest: max(saved.Newest, saved.State.Cursor),
	}
	for _, block := range saved.Blocked {
		l := b.lane(block.Chat)
		l.block = &block
		b.blocked.push(l)
	}
	return b
}

// append takes events that were just written.
func (b *backlog) append(events []eventlog.Event) {
	for _, event := range events {
		b.newest = event.Sequence
		switch {
		case b.endpoint.status != StatusOK && !b.endpoint.opinion:
			// It waits in the log.
		case event.Sequence == b.end+1 && b.hasRoom():
			b.push(event)
		case b.reading && len(b.tail) < maxLoaded && b.tailBytes < maxLoadedBytes:
			b.tail = append(b.tail, event)
			b.tailBytes += len(event.Data)
		}
	}
	b.advance()
}

func (b *backlog) hasRoom() bool {
	return b.loaded < maxLoaded && b.loadedBytes < maxLoadedBytes && len(b.window) < maxAhead
}

// isFull reports whether more than half of what may be loaded is.
func (b *backlog) isFull() bool { return b.loaded > maxLoaded/2 || b.loadedBytes > maxLoadedBytes/2 }

// wants returns after which event, and how many, should be read from the log;
// none where there is nothing to read or no use for it now.
func (b *backlog) wants(now time.Time) (after int64, limit int) {
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

func (b *backlog) moreToRead() bool {
	return b.newest > b.end && !b.isFull() && b.hasRoom()
}

// read takes what was read after an event: all there is up to through, or as
// much as was asked for.
func (b *backlog) read(after int64, events []eventlog.Event, through int64) {
	tail := b.tail
	b.tail, b.tailBytes = nil, 0
	if after != b.end {
		return // what was loaded was dropped meanwhile
	}
	for _, event := range events {
		if event.Sequence > b.end && b.hasRoom() {
			b.push(event)
			b.newest = max(b.newest, b.end)
		}
	}
	// What is missing is not kept any more.
	if len(events) == 0 {
		b.end = max(b.end, through)
	}
	for _, event := range tail {
		if event.Sequence == b.end+1 && b.hasRoom() {
			b.push(event)
		}
	}
	b.advance()
}

func (b *backlog) push(event eventlog.Event) {
	b.end = event.Sequence
	e := &entry{sequence: event.Sequence, event: event}
	b.window = append(b.window, e)
	if _, acked := b.acked[event.Sequence]; acked {
		delete(b.acked, event.Sequence)
		e.finish()
		return
	}
	l := b.lane(event.Chat)
	if l.block != nil {
		l.block.Through = max(l.block.Through, event.Sequence)
		b.touch(l)
		e.finish()
		return
	}
	b.loaded++
	b.loadedBytes += len(event.Data)
	l.queue = append(l.queue, e)
	b.put(l)
}

func (b *backlog) lane(chat gateway.JID) *lane {
	l := b.lanes[chat]
	if l == nil {
		l = &lane{chat: chat}
		if b.lanes == nil {
			b.lanes = map[gateway.JID]*lane{}
		}
		b.lanes[chat] = l
	}
	return l
}

// put puts a lane that is nowhere where it belongs.
func (b *backlog) put(l *lane) {
	switch {
	case l.place != nowhere:
	case l.block != nil && len(l.queue) == 0:
		b.blocked.push(l)
	case len(l.queue) == 0 && l.failedAt == 0:
		delete(b.lanes, l.chat)
	case l.block == nil && l.failedAt > b.lastSuccess:
		l.place = inHeld
		b.held = append(b.held, l)
	case len(l.queue) > 0:
		l.place = inReady
		b.ready = append(b.ready, l)
	}
}
