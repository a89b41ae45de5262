package backlog

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
	b        Backlog
	now      time.Time
	log      []eventlog.Event
	db       saved
	dead     map[int64]bool // dead letters that are saved

	jobs  []Job
	reads []Read

	busiest   bool
	filtered  bool   // events of the kind "other" are left out
	data      []byte // which all events share
	largest   int    // event, in bytes
	down      bool
	poison    map[int64]bool
	delivered map[int64]bool
	last      map[gateway.JID]int64 // the last first delivery of each chat
	again     map[int64]bool        // they may come again after a stop
	unordered bool                  // a replay or a crash mixes first deliveries with repeats
	sent      int
}

// saved is a backlog as the database has it.
type saved struct {
	State   State
	Blocked []BlockedChat
	Newest  int64
}

func testSchedule() Schedule {
	return Schedule{
		Endpoint: []time.Duration{
			time.Second, 2 * time.Second, 5 * time.Second, 15 * time.Second, 30 * time.Second,
			time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute,
		},
		Event: []time.Duration{
			5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour, 3 * time.Hour,
		},
		SuspendAfter: 5 * 24 * time.Hour,
	}
}

func newModel(t *testing.T, seed uint64) *model {
	t.Helper()
	m := &model{
		t: t, random: rand.New(rand.NewPCG(seed, 1)), now: time.Unix(1_000_000, 0), schedule: testSchedule(),
		poison: map[int64]bool{}, delivered: map[int64]bool{}, dead: map[int64]bool{}, again: map[int64]bool{}, last: map[gateway.JID]int64{},
	}
	m.busiest = seed%2 == 1
	m.filtered = seed >= plainWorlds
	if seed%3 == 0 { // in some worlds a few events are all that may be loaded
		m.largest = MaxLoadedBytes / 2
		m.data = make([]byte, m.largest)
	}
	m.schedule.SuspendAfter = 1_000_000 * time.Hour
	m.db.State.Status = StatusOK
	m.begin()
	return m
}

// plainWorlds is how many worlds there are in which every event is taken; there are as many
// others.
const plainWorlds = 12

// begin makes the backlog of what is saved.
func (m *model) begin() {
	m.b = New(&m.schedule, m.db.State, m.db.Blocked, m.db.Newest)
	m.b.random = m.random.Float64
	if m.filtered {
		m.b.Filter(m.takes)
	}
}

// takes reports whether an event is to be delivered.
func (m *model) takes(event eventlog.Event) bool { return !m.filtered || event.Kind != "other" }

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
	m.b.Append(events)
}

// event makes the next event, of some chat.
func (m *model) event() eventlog.Event {
	n := len(m.log) + 1
	event := eventlog.Event{Sequence: int64(n), ID: fmt.Sprint(n), Chat: m.chat()}
	if m.largest > 0 {
		event.Data = m.data[:m.random.IntN(m.largest)]
	}
	if m.filtered && m.chance(60) {
		event.Kind = "other"
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
	for range 2 { // more at a time than the pump has
		if read, ok := m.b.BeginRead(m.now); ok {
			m.reads = append(m.reads, read)
		}
	}
	for {
		q, why := m.b.choose(m.now)
		if q == nil || m.chance(10) { // or there is no place for it
			break
		}
		m.jobs = append(m.jobs, m.b.Start(Candidate{q, why}))
		m.sent++
	}
	m.b.DropIdle(m.now)
}

func (m *model) answer() {
	if len(m.jobs) == 0 {
		return
	}
	i := m.random.IntN(len(m.jobs))
	j := m.jobs[i]
	m.jobs = slices.Delete(m.jobs, i, i+1)
	a := Answer{Status: 200}
	switch {
	case m.chance(1):
		a = Answer{Aborted: true}
	case m.down:
		a = []Answer{{Status: 500}, {TimedOut: true}, {Unreachable: true}, {Status: 429, RetryAfter: time.Minute}}[m.random.IntN(4)]
	case m.poison[j.Event.Sequence]:
		a = []Answer{{Status: 400}, {TimedOut: true}}[m.random.IntN(2)]
	case m.chance(2):
		a = Answer{Status: 503}
	}
	if a.verdict() == delivered {
		sequence := j.Event.Sequence
		switch {
		case m.unordered:
		case m.delivered[sequence] && m.again[sequence]:
		case m.delivered[sequence]:
			m.t.Fatalf("%d of chat %s came twice", sequence, j.Event.Chat)
		case sequence < m.last[j.Event.Chat] && !m.again[m.last[j.Event.Chat]]:
			m.t.Fatalf("%d of chat %s came first after %d", sequence, j.Event.Chat, m.last[j.Event.Chat])
		}
		m.delivered[sequence] = true
		m.last[j.Event.Chat] = max(m.last[j.Event.Chat], sequence)
	}
	m.b.Finish(j, a, m.now)
}

// read ends one of the reads that are under way.
func (m *model) read() {
	if len(m.reads) == 0 {
		return
	}
	i := m.random.IntN(len(m.reads))
	r := m.reads[i]
	m.reads = slices.Delete(m.reads, i, i+1)
	switch {
	case m.chance(10):
		m.b.FailRead(r, m.now.Add(time.Second))
	case r.Chat == nil:
		m.window(r)
	default:
		var events []eventlog.Event
		for _, event := range m.log[r.Chat.Sequence-1 : r.Chat.Through] {
			if event.Chat == r.Chat.Chat && m.takes(event) && len(events) < 3 {
				events = append(events, event)
			}
		}
		m.b.FinishRead(r, events, r.Chat.Through, m.now)
	}
}

// window reads the next events of all chats.
func (m *model) window(r Read) {
	if !m.filtered {
		m.b.FinishRead(r, m.log[r.After:min(int(r.After)+r.Limit, len(m.log))], 0, m.now)
		return
	}
	through := min(r.After+20, r.Through)
	var events []eventlog.Event
	for _, event := range m.log[r.After:through] {
		if !m.takes(event) {
			continue
		}
		if events = append(events, event); len(events) == r.Limit {
			through = event.Sequence
			break
		}
	}
	m.b.FinishRead(r, events, through, m.now)
}

// save writes what changed, or fails to.
func (m *model) save() {
	if !m.b.Unsaved() && !m.b.Skipped() {
		return
	}
	p := m.b.Take()
	if m.chance(20) {
		m.b.PutBack(p)
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
		if m.delivered[event.Sequence] || m.dead[event.Sequence] || !m.takes(event) {
			continue
		}
		if !slices.ContainsFunc(m.db.Blocked, func(b BlockedChat) bool {
			return b.Chat == event.Chat && b.Sequence <= event.Sequence && event.Sequence <= b.Through
		}) {
			m.t.Fatalf("%d of chat %s is before the cursor %d, and lost", event.Sequence, event.Chat, m.db.State.Cursor)
		}
	}
}

// crash loses all that is not saved.
func (m *model) crash() {
	m.db.Newest = int64(len(m.log))
	m.db.Blocked = slices.Clone(m.db.Blocked)
	m.begin()
	m.jobs, m.reads, m.unordered = nil, nil, true
}

// stop lets the requests in flight end, or cuts them off, and begins again with what is saved then: what
// was delivered does not come again, but for what was so before the window was dropped and is not read
// again yet.
func (m *model) stop() {
	m.reads = nil
	for len(m.jobs) > 0 {
		if m.chance(50) {
			m.answer()
			continue
		}
		m.b.Finish(m.jobs[0], Answer{Aborted: true}, m.now)
		m.jobs = m.jobs[1:]
	}
	for sequence := range m.b.acked {
		m.again[sequence] = true
	}
	m.b.End(m.now)
	for m.b.Unsaved() || m.b.Skipped() {
		m.save()
	}
	m.db.Newest = int64(len(m.log))
	m.db.Blocked = slices.Clone(m.db.Blocked)
	m.begin()
}

func (m *model) check() {
	busy := map[gateway.JID]int{}
	for _, j := range m.jobs {
		busy[j.Event.Chat]++
		if busy[j.Event.Chat] > 1 {
			m.t.Fatalf("two events of chat %s are in flight", j.Event.Chat)
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
	if size != m.b.loadedBytes || size > MaxLoadedBytes+m.largest {
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
		m.answer()
	case 6, 7:
		m.read()
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
	for seed := range uint64(2 * plainWorlds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			m := newModel(t, seed)
			for range 3_000 {
				switch {
				case m.chance(1) && m.chance(30):
					m.down = !m.down
				case m.chance(1) && m.chance(20):
					m.stop()
				case seed%3 == 1 && m.chance(1) && m.chance(20):
					m.crash()
				case seed%3 != 1 && m.chance(1) && m.chance(30):
					m.b.Resume(m.now)
				case seed%3 == 2 && m.chance(1):
					m.unordered = true
					m.b.Replay(int64(m.random.IntN(len(m.log) + 2)))
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
			m.b.Append([]eventlog.Event{event})
			m.now = m.now.Add(time.Hour)
		}
		if m.b.BlockedChats() == 0 && m.b.cursor == m.b.newest && len(m.jobs) == 0 && !m.b.Unsaved() && !m.b.Skipped() {
			break
		}
	}
	if m.db.State.Cursor != int64(len(m.log)) || len(m.db.Blocked) > 0 {
		m.t.Fatalf("it came to rest at %d of %d with %d blocked chats", m.db.State.Cursor, len(m.log), len(m.db.Blocked))
	}
	for _, event := range m.log {
		if !m.takes(event) {
			if m.delivered[event.Sequence] {
				m.t.Errorf("%d was delivered, though it is left out", event.Sequence)
			}
			continue
		}
		if !m.delivered[event.Sequence] && !m.dead[event.Sequence] {
			m.t.Errorf("%d was not delivered", event.Sequence)
		}
		if m.dead[event.Sequence] && !m.poison[event.Sequence] {
			m.t.Errorf("%d is a dead letter, though the endpoint would take it", event.Sequence)
		}
	}
	if len(m.b.queues) != 0 {
		m.t.Errorf("%d chats are in memory of a backlog at rest", len(m.b.queues))
	}
}
