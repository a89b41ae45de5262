package backlog

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

func TestVerdict(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		answer Answer
		want   verdict
		event  bool // whether it may be the event's fault
	}{
		{Answer{Status: 200}, delivered, true},
		{Answer{Status: 204}, delivered, true},
		{Answer{Status: 299}, delivered, true},
		{Answer{Status: 300}, failed, true},
		{Answer{Status: 307}, failed, true},
		{Answer{Status: 400}, failed, true},
		{Answer{Status: 401}, failed, true},
		{Answer{Status: 408}, failed, true},
		{Answer{Status: 410}, gone, true},
		{Answer{Status: 429}, failed, false},
		{Answer{Status: 500}, failed, true},
		{Answer{Status: 503, RetryAfter: time.Second}, failed, false},
		{Answer{TimedOut: true}, failed, true},
		{Answer{Unreachable: true}, failed, false},
		{Answer{Aborted: true}, aborted, true},
	} {
		if got := test.answer.verdict(); got != test.want {
			t.Errorf("%+v is %d, want %d", test.answer, got, test.want)
		}
		if got := test.answer.mayBeTheEvents(); got != test.event {
			t.Errorf("%+v may be the event's: %v", test.answer, got)
		}
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	schedule := testSchedule()
	for n, want := range cases.Sorted(map[int]time.Duration{
		0: time.Second, 1: time.Second, 2: 2 * time.Second, 3: 5 * time.Second, 6: time.Minute,
		10: 15 * time.Minute, 11: 15 * time.Minute, 1_000: 15 * time.Minute,
	}) {
		for random, factor := range cases.Sorted(map[float64]float64{0: 0.8, 0.5: 1, 1: 1.2}) {
			if got := backoff(schedule.Endpoint, n, random); (got - time.Duration(float64(want)*factor)).Abs() > time.Microsecond {
				t.Errorf("failure %d is followed by %s, want %s times %g", n, got, want, factor)
			}
		}
	}
	if len(schedule.Event) != 6 || schedule.Event[5] != 3*time.Hour {
		t.Errorf("an event waits %v", schedule.Event)
	}
}

// What an endpoint does after each of its failures.
func TestEndpoint(t *testing.T) {
	t.Parallel()
	schedule := testSchedule()
	now := noon()
	e := newEndpoint(State{})
	fail := func(why purpose, a Answer) { e.failed(why, a, now, &schedule, 0.5) }
	want := func(status Status, failures int, wait time.Duration, opinion bool, width int) {
		t.Helper()
		if e.status != status || e.failures != failures || e.opinion != opinion || e.width != width ||
			status == StatusBackoff && e.nextTry.Sub(now) != wait {
			t.Errorf("it is %+v, to try in %s", e, e.nextTry.Sub(now))
		}
	}
	want(StatusOK, 0, 0, false, 8)
	for range 100 {
		e.succeeded()
	}
	want(StatusOK, 0, 0, false, 32)
	fail(toDeliver, Answer{Status: 500})
	want(StatusBackoff, 1, time.Second, true, 32)
	fail(toDeliver, Answer{Status: 500}) // of the same wave
	want(StatusBackoff, 1, time.Second, true, 32)
	e.opinion = false // it was asked for
	fail(toCompare, Answer{Status: 500})
	want(StatusBackoff, 1, time.Second, false, 32)
	for _, wait := range schedule.Endpoint[1:] {
		now = e.nextTry
		fail(toProbe, Answer{TimedOut: true})
		want(StatusBackoff, e.failures, wait, false, 1)
	}
	want(StatusBackoff, 10, 15*time.Minute, false, 1)
	fail(toProbe, Answer{Status: 503, RetryAfter: time.Hour})
	want(StatusBackoff, 11, time.Hour, false, 1)
	fail(toProbe, Answer{Status: 503, RetryAfter: time.Second})
	want(StatusBackoff, 12, 15*time.Minute, false, 1)
	e.succeeded()
	want(StatusOK, 0, 0, false, 2)
	fail(toDeliver, Answer{Status: 429, RetryAfter: time.Minute})
	want(StatusBackoff, 1, time.Minute, false, 2)
	since := now
	now = since.Add(schedule.SuspendAfter - time.Second)
	fail(toProbe, Answer{Status: 500})
	want(StatusBackoff, 2, 2*time.Second, false, 2)
	now = since.Add(schedule.SuspendAfter)
	fail(toProbe, Answer{Status: 500})
	want(StatusSuspended, 3, 0, false, 2)
	if e.reason != ReasonUnreachable || !e.failingSince.Equal(since) {
		t.Errorf("it is %+v", e)
	}
	e.succeeded() // too late
	fail(toDeliver, Answer{Status: 500})
	want(StatusSuspended, 3, 0, false, 3)
}

// An event that always fails, among others that succeed, is tried eight times:
// at once, once more when another one has succeeded, and after each of the six
// waits.
func TestEventSchedule(t *testing.T) {
	t.Parallel()
	m := newModel(t, 0)
	m.b.random = func() float64 { return 0.5 }
	var tries []time.Duration
	begin := m.now
	deliver := func() {
		for {
			q, why := m.b.choose(m.now)
			if q == nil {
				return
			}
			j := m.b.Start(Candidate{q, why})
			a := Answer{Status: 200}
			if j.Event.Chat == "sick" {
				tries = append(tries, m.now.Sub(begin))
				a.Status = 500
			}
			m.b.Finish(j, a, m.now)
		}
	}
	add := func(chat string) {
		event := m.event()
		event.Chat = "sound"
		if chat != "" {
			event.Chat = "sick"
		}
		m.log = append(m.log, event)
		m.b.Append(m.log[len(m.log)-1:])
		deliver()
	}
	add("sick")
	for len(m.b.deadLetters) == 0 && m.now.Sub(begin) < 24*time.Hour {
		add("")
		m.now = m.now.Add(time.Second)
		if read, ok := m.b.BeginRead(m.now); ok {
			if read.Chat == nil {
				t.Fatalf("it reads %+v, though everything is loaded", read)
			}
			m.b.FinishRead(read, m.log[:1], 1, m.now)
		}
		deliver()
	}
	var waits []time.Duration
	for i := 1; i < len(tries); i++ {
		waits = append(waits, tries[i]-tries[i-1])
	}
	want := append([]time.Duration{0}, testSchedule().Event...)
	if !slices.Equal(waits, want) {
		t.Errorf("it was tried after %v, want %v", waits, want)
	}
	if len(m.b.deadLetters) != 1 || m.b.deadLetters[0].Sequence != 1 || m.b.BlockedChats() != 0 {
		t.Errorf("dead letters are %+v", m.b.deadLetters)
	}
}

// A replay that begins behind the event that blocks a chat leaves the chat to its
// own queue, with all the events that it was to deliver.
func TestReplayBehindABlock(t *testing.T) {
	t.Parallel()
	schedule := testSchedule()
	b := New(&schedule, State{Status: StatusOK, Cursor: 10},
		[]BlockedChat{{Chat: "a", Sequence: 2, Through: 10}, {Chat: "b", Sequence: 7, Through: 8}}, 10)
	if got, want := b.Replay(5), (Replayed{FromSequence: 5, Events: 6}); got != want {
		t.Errorf("it answers %+v, want %+v", got, want)
	}
	b.windowRead(Read{After: 4, Through: 10}, []eventlog.Event{{Sequence: 5, Chat: "c"}, {Sequence: 6, Chat: "a"}, {Sequence: 7, Chat: "b"}}, 0)
	if a := b.queues["a"]; a.block == nil || a.block.Sequence != 2 || a.block.Through != 10 || len(a.entries) != 0 {
		t.Errorf("the chat that was blocked before is %+v", a.block)
	}
	if q := b.queues["b"]; q.block != nil || len(q.entries) != 1 {
		t.Errorf("the chat that comes again is blocked: %+v", q.block)
	}
	p := b.Take()
	if p.State.Cursor != 4 || len(p.Unblocked) != 1 || p.Unblocked[0] != "b" || p.RevivedAfter == nil || *p.RevivedAfter != 4 {
		t.Errorf("saved is %+v", p)
	}
}

// A chat is found behind any number of others whose events the endpoint refuses and that fill
// the memory, though nothing has succeeded since the start.
func TestChatIsFoundBehindThoseThatFail(t *testing.T) {
	t.Parallel()
	const refused = 4 * maxParked
	var log []eventlog.Event
	for n := range int64(refused) {
		log = append(log, eventlog.Event{
			Sequence: n + 1, Chat: gateway.JID(fmt.Sprint("sick ", n)), Data: make([]byte, MaxLoadedBytes),
		})
	}
	log = append(log, eventlog.Event{Sequence: refused + 1, Chat: "sound"})
	schedule := testSchedule()
	b := New(&schedule, State{Status: StatusOK}, nil, int64(len(log)))
	now := noon()
	for range 10 * refused {
		for read, ok := b.BeginRead(now); ok; read, ok = b.BeginRead(now) {
			events := log[read.After:]
			if read.Chat != nil {
				events = log[read.Chat.Sequence-1 : read.Chat.Through]
			}
			b.FinishRead(read, events, int64(len(log)), now)
		}
		for candidate, ok := b.Choose(now); ok; candidate, ok = b.Choose(now) {
			job := b.Start(candidate)
			if job.Event.Chat == "sound" {
				return
			}
			b.Finish(job, Answer{Status: http.StatusBadRequest}, now)
		}
		b.DropIdle(now)
		now = now.Add(schedule.Endpoint[len(schedule.Endpoint)-1] * 2)
	}
	t.Errorf("it was not tried; the cursor is at %d of %d, with %d blocked chats", b.cursor, len(log), b.BlockedChats())
}

// A chat that was being read when its block was dropped has events of the window, which go
// with the window.
func TestDroppedWindowTakesAllItsEvents(t *testing.T) {
	t.Parallel()
	schedule := testSchedule()
	now := noon()
	b := New(&schedule, State{Status: StatusOK, Cursor: 10}, []BlockedChat{{Chat: "a", Sequence: 2, Through: 10, NextTry: now}}, 10)
	if read, ok := b.BeginRead(now); !ok || read.Chat == nil {
		t.Fatalf("it reads %+v, not the blocked chat", read)
	}
	b.Replay(1)
	read, _ := b.BeginRead(now)
	b.FinishRead(read, []eventlog.Event{{Sequence: 1, Chat: "b"}, {Sequence: 2, Chat: "a"}}, 0, now)
	candidate, _ := b.Choose(now)
	b.Finish(b.Start(candidate), Answer{Unreachable: true}, now)
	b.DropIdle(now)
	for chat, q := range cases.Sorted(b.queues) {
		if len(q.entries) > 0 {
			t.Errorf("chat %s has %d events of a window that was dropped", chat, len(q.entries))
		}
	}
}
