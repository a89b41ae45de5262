package webhook

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

// model is a world around a backlog in which everything happens by chance, in
// any order that can occur: a log, a database, an endpoint that comes and goes,
// events that it never takes, and crashes.
type model struct {
	t        *testing.T
	random   *rand.Rand
	schedule Schedule
	b        backlog
	now      time.Time
	log      []eventlog.Event
	db       Saved
	dead     map[int64]bool // dead letters that are saved

	jobs   []job
	lanes  []laneJob
	window *windowJob

	busiest   bool
	data      []byte // which all events share
	largest   int    // event, in bytes
	down      bool
	poison    map[int64]bool
	delivered map[int64]bool
	last      map[gateway.JID]int64 // the last first delivery of each chat
	unordered bool                  // a replay or a crash mixes first deliveries with repeats
	sent      int
}

type laneJob struct {
	lane  *lane
	block BlockedChat
	epoch int
}

type windowJob struct {
	after, through int64
	limit, epoch   int
}

func newModel(t *testing.T, seed uint64) *model {
	t.Helper()
	m := &model{
		t: t, random: rand.New(rand.NewPCG(seed, 1)), now: time.Unix(1_000_000, 0), schedule: Schedule{}.withDefaults(),
		poison: map[int64]bool{}, delivered: map[int64]bool{}, dead: map[int64]bool{}, last: map[gateway.JID]int64{},
	}
	m.busiest = seed%2 == 1
	if seed%3 == 0 { // in some worlds a few events are all that may be loaded
		m.largest = maxLoadedBytes / 2
		m.data = make([]byte, m.largest)
	}
	m.schedule.SuspendAfter = 1_000_000 * time.Hour
	m.db.State.Status = StatusOK
	m.b = newBacklog(&m.schedule, m.db)
	m.b.random = m.random.Float64
	return m
}

func (m *model) chance(percent int) bool { return m.random.IntN(100) < percent }

func (m *model) append(n int) {
	var events []eventlog.Event
	for range n {
		event := m.event()
		if m.chance(3) && (!m.busiest || m.chance(20)) {
			m.poison[event.Sequence] = true
		}
		m.log = append(m.log, event)
		events = append(events, event)
	}
	m.b.append(events)
}

// event makes the next event, of some chat.
func (m *model) event() eventlog.Event {
	n := len(m.log) + 1
	event := eventlog.Event{Sequence: int64(n), ID: fmt.Sprint(n), Chat: m.chat()}
	if m.largest > 0 {
		event.Data = m.data[:m.random.IntN(m.largest)]
	}
	return event
}

// chat returns one of a dozen chats; in some worlds one writes most of the time.
func (m *model) chat() gateway.JID {
	if m.busiest && m.chance(90) {
		return "0"
	}
	return gateway.JID(fmt.Sprint(m.random.IntN(12)))
}

// drive does what the pump does after each change.
func (m *model) drive() {
	if m.window == nil {
		if after, limit := m.b.wants(m.now); limit > 0 {
			m.b.reading = true
			m.window = &windowJob{after: after, through: m.b.newest, limit: limit, epoch: m.b.epoch}
		}
	}
	if l := m.b.wantsLane(m.now); l != nil {
		m.lanes = append(m.lanes, laneJob{lane: l, block: *l.block, epoch: m.b.epoch})
	}
	for {
		l, why := m.b.choose(m.now)
		if l == nil || m.chance(10) { // or there is no place for it
			break
		}
		m.jobs = append(m.jobs, m.b.start(l, why))
		m.sent++
	}
	m.b.rest(m.now)
}

func (m *model) settle() {
	if len(m.jobs) == 0 {
		return
	}
	i := m.random.IntN(len(m.jobs))
	j := m.jobs[i]
	m.jobs = slices.Delete(m.jobs, i, i+1)
	a := answer{status: 200}
	switch {
	case m.chance(1):
		a = answer{aborted: true}
	case m.down:
		a = []answer{{status: 500}, {timedOut: true}, {unreachable: true}, {status: 429, retryAfter: time.Minute}}[m.random.IntN(4)]
	case m.poison[j.event.Sequence]:
		a = []answer{{status: 400}, {timedOut: true}}[m.random.IntN(2)]
	case m.chance(2):
		a = answer{status: 503}
	}
	if a.verdict() == delivered {
		sequence := j.event.Sequence
		switch {
		case m.unordered:
		case m.delivered[sequence]:
			m.t.Fatalf("%d of chat %s came twice", sequence, j.event.Chat)
		case sequence < m.last[j.event.Chat]:
			m.t.Fatalf("%d of chat %s came first after %d", sequence, j.event.Chat, m.last[j.event.Chat])
		}
		m.delivered[sequence] = true
		m.last[j.event.Chat] = max(m.last[j.event.Chat], sequence)
	}
	m.b.settle(j, a, m.now)
}

func (m *model) readWindow() {
	w := m.window
	if w == nil {
		return
	}
	m.window, m.b.reading = nil, false
	switch {
	case w.epoch != m.b.epoch || m.chance(5): // or the read failed
		m.b.tail, m.b.tailBytes = nil, 0
	default:
		m.b.read(w.after, m.log[w.after:min(int(w.after)+w.limit, len(m.log))], w.through)
	}
}

func (m *model) readLane() {
	if len(m.lanes) == 0 {
		return
	}
	j := m.lanes[0]
	m.lanes = m.lanes[1:]
	if m.chance(10) {
		m.b.laneFailed(j.lane, m.now.Add(time.Second))
		return
	}
	var loaded []*entry
	for _, event := range m.log[j.block.Sequence-1 : j.block.Through] {
		if event.Chat == j.block.Chat && len(loaded) < 3 {
			loaded = append(loaded, &entry{sequence: event.Sequence, event: event})
		}
	}
	m.b.laneRead(j.lane, j.epoch, loaded, j.block.Through, m.now)
}

// save writes what changed, or fails to.
func (m *model) save() {
	if !m.b.unsaved() {
		return
	}
	var p Progress
	m.b.take(&p)
	if m.chance(20) {
		m.b.putBack(p)
		return
	}
	if p.RevivedAfter != nil {
		for sequence := range m.dead {
			if sequence > *p.RevivedAfter {
				delete(m.dead, sequence)
			}
		}
	}
	m.db.State = p.State
	for _, chat := range p.Unblocked {
		m.db.Blocked = slices.DeleteFunc(m.db.Blocked, func(b BlockedChat) bool { return b.Chat == chat })
	}
	for _, block := range p.Blocked {
		m.db.Blocked = slices.DeleteFunc(m.db.Blocked, func(b BlockedChat) bool { return b.Chat == block.Chat })
		m.db.Blocked = append(m.db.Blocked, block)
	}
	for _, letter := range p.DeadLetters {
		m.dead[letter.Sequence] = true
	}
	m.checkSaved()
}

// checkSaved checks what the database says: every event up to the cursor was
// delivered, is a dead letter, or belongs to a blocked chat.
func (m *model) checkSaved() {
	for _, event := range m.log[:m.db.State.Cursor] {
		waits := slices.ContainsFunc(m.db.Blocked, func(b BlockedChat) bool {
			return b.Chat == event.Chat && b.Sequence <= event.Sequence && event.Sequence <= b.Through
		})
		if !m.delivered[event.Sequence] && !m.dead[event.Sequence] && !waits {
			m.t.Fatalf("%d of chat %s is before the cursor %d, and lost", event.Sequence, event.Chat, m.db.State.Cursor)
		}
	}
}

// crash loses all that is not saved.
func (m *model) crash() {
	m.db.Newest = int64(len(m.log))
	m.db.Blocked = slices.Clone(m.db.Blocked)
	m.b = newBacklog(&m.schedule, m.db)
	m.b.random = m.random.Float64
	m.jobs, m.lanes, m.window, m.unordered = nil, nil, nil, true
}

func (m *model) check() {
	busy := map[gateway.JID]int{}
	for _, j := range m.jobs {
		busy[j.event.Chat]++
		if busy[j.event.Chat] > 1 {
			m.t.Fatalf("two events of chat %s are in flight", j.event.Chat)
		}
	}
	if len(m.jobs) != m.b.inFlight || m.b.inFlight > maxWidth {
		m.t.Fatalf("%d are in flight, counted %d", len(m.jobs), m.b.inFlight)
	}
	loaded, size := 0, 0
	for _, e := range m.b.window {
		if !e.done {
			loaded++
			size += len(e.event.Data)
		}
	}
	if size != m.b.loadedBytes || size > maxLoadedBytes+m.largest {
		m.t.Fatalf("%d bytes are loaded, counted %d", size, m.b.loadedBytes)
	}
	if loaded != m.b.loaded || loaded > maxLoaded {
		m.t.Fatalf("%d are loaded, counted %d", loaded, m.b.loaded)
	}
}

// step does one thing that can happen.
func (m *model) step(disturb bool) {
	switch m.random.IntN(10) {
	case 0, 1:
		if disturb {
			m.append(1 + m.random.IntN(8))
		}
	case 2, 3, 4, 5:
		m.settle()
	case 6:
		m.readWindow()
	case 7:
		m.readLane()
	case 8:
		m.save()
	case 9:
		m.now = m.now.Add(time.Duration(m.random.IntN(3_000)) * time.Millisecond)
	}
	m.drive()
}

// Whatever happens, no event is lost, those of a chat go one after another and
// in order, and in the end everything is delivered but what can't be.
func TestBacklogByChance(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			m := newModel(t, seed)
			for range 3_000 {
				switch {
				case m.chance(1) && m.chance(30):
					m.down = !m.down
				case seed%3 == 1 && m.chance(1) && m.chance(20):
					m.crash()
				case seed%3 != 1 && m.chance(1) && m.chance(30):
					m.b.resume(m.now)
				case seed%3 == 2 && m.chance(1):
					m.unordered = true
					m.b.replay(int64(m.random.IntN(len(m.log) + 2)))
					m.unordered = true
				}
				m.step(true)
				m.check()
			}
			m.finish()
		})
	}
}

// finish lets everything come to rest.
func (m *model) finish() {
	m.down = false
	for range 500_000 {
		m.step(false)
		if m.chance(1) {
			// Others that succeed are what an event is judged by.
			event := m.event()
			event.Chat = "good"
			m.log = append(m.log, event)
			m.b.append([]eventlog.Event{event})
			m.now = m.now.Add(time.Hour)
		}
		if m.b.blockedChats() == 0 && m.b.cursor == m.b.newest && len(m.jobs) == 0 && !m.b.unsaved() {
			break
		}
	}
	if m.db.State.Cursor != int64(len(m.log)) || len(m.db.Blocked) > 0 {
		m.t.Fatalf("it came to rest at %d of %d with %d blocked chats", m.db.State.Cursor, len(m.log), len(m.db.Blocked))
	}
	for _, event := range m.log {
		if !m.delivered[event.Sequence] && !m.dead[event.Sequence] {
			m.t.Errorf("%d was not delivered", event.Sequence)
		}
		if m.dead[event.Sequence] && !m.poison[event.Sequence] {
			m.t.Errorf("%d is a dead letter, though the endpoint would take it", event.Sequence)
		}
	}
	if len(m.b.lanes) != 0 {
		m.t.Errorf("%d chats are in memory of a backlog at rest", len(m.b.lanes))
	}
}
