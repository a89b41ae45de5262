package webhook

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
)

func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

func TestKey(t *testing.T) {
	t.Parallel()
	for secret, want := range map[Secret]string{
		"whsec_aGVsbG8=":  "hello",
		"whsec_aGVsbG8":   "whsec_aGVsbG8", // base64 has its padding
		"whsec_":          "whsec_",
		"whsec_not it":    "whsec_not it",
		"aGVsbG8=":        "aGVsbG8=",
		"açaí":            "açaí",
		"WHSEC_aGVsbG8=":  "WHSEC_aGVsbG8=",
		"whsec_aGVsbG8= ": "whsec_aGVsbG8= ",
		// Base64 in a form that not every language takes.
		"whsec_aGVs\nbG8=": "whsec_aGVs\nbG8=",
		"whsec_aGVsbG8=\n": "whsec_aGVsbG8=\n",
		"whsec_aGVsbG9=":   "whsec_aGVsbG9=",
	} {
		if got := string(secret.key()); got != want {
			t.Errorf("the key of %q is %q, want %q", string(secret), got, want)
		}
	}
	var out strings.Builder
	slog.New(slog.NewTextHandler(&out, nil)).Info("test", slog.Any("secret", Secret("very secret")))
	if strings.Contains(out.String(), "very secret") {
		t.Errorf("it is logged: %s", out.String())
	}
}

func FuzzKey(f *testing.F) {
	for _, secret := range []string{"whsec_aGVsbG8=", "whsec_", "plain", "whsec_aGVs\nbG8=", ""} {
		f.Add(secret)
	}
	f.Fuzz(func(t *testing.T, secret string) {
		key := Secret(secret).key()
		if secret != "" && len(key) == 0 {
			t.Errorf("%q has no key", secret)
		}
		if string(key) == secret {
			return
		}
		decoded, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil || !bytes.Equal(decoded, key) || !strings.HasPrefix(secret, "whsec_") {
			t.Errorf("the key of %q is %q", secret, key)
		}
	})
}

func TestParseRetryAfter(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]time.Duration{
		"":                              0,
		"0":                             0,
		"7":                             7 * time.Second,
		" 7 ":                           7 * time.Second,
		"3600":                          time.Hour,
		"3601":                          time.Hour,
		"9223372036854775807":           time.Hour,
		"99999999999999999999999":       0, // nobody means that
		"-1":                            0,
		"1.5":                           0,
		"soon":                          0,
		"Fri, 20 Nov 2026 12:00:30 GMT": 30 * time.Second,
		"Fri, 20 Nov 2026 11:00:00 GMT": 0,
		"Sat, 20 Nov 2027 12:00:00 GMT": time.Hour,
	} {
		if got := parseRetryAfter(value, noon(), time.Hour); got != want {
			t.Errorf("%q means %s, want %s", value, got, want)
		}
	}
}

func FuzzParseRetryAfter(f *testing.F) {
	for _, value := range []string{"", "7", "-7", "Fri, 20 Nov 2026 12:00:30 GMT", "99999999999999999999"} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if got := parseRetryAfter(value, noon(), time.Hour); got < 0 || got > time.Hour {
			t.Errorf("%q means %s", value, got)
		}
	})
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		answer answer
		want   verdict
		event  bool // whether it may be the event's fault
	}{
		{answer{status: 200}, delivered, true},
		{answer{status: 204}, delivered, true},
		{answer{status: 299}, delivered, true},
		{answer{status: 300}, failed, true},
		{answer{status: 307}, failed, true},
		{answer{status: 400}, failed, true},
		{answer{status: 401}, failed, true},
		{answer{status: 408}, failed, true},
		{answer{status: 410}, gone, true},
		{answer{status: 429}, failed, false},
		{answer{status: 500}, failed, true},
		{answer{status: 503, retryAfter: time.Second}, failed, false},
		{answer{timedOut: true}, failed, true},
		{answer{unreachable: true}, failed, false},
		{answer{aborted: true}, aborted, true},
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
	schedule := Schedule{}.withDefaults()
	for n, want := range map[int]time.Duration{
		0: time.Second, 1: time.Second, 2: 2 * time.Second, 3: 5 * time.Second, 6: time.Minute,
		10: 15 * time.Minute, 11: 15 * time.Minute, 1_000: 15 * time.Minute,
	} {
		for random, factor := range map[float64]float64{0: 0.8, 0.5: 1, 1: 1.2} {
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
	schedule := Schedule{}.withDefaults()
	now := noon()
	e := newEndpoint(State{})
	fail := func(why purpose, a answer) { e.failed(why, a, now, &schedule, 0.5) }
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
	fail(toDeliver, answer{status: 500})
	want(StatusBackoff, 1, time.Second, true, 32)
	fail(toDeliver, answer{status: 500}) // of the same wave
	want(StatusBackoff, 1, time.Second, true, 32)
	e.opinion = false // it was asked for
	fail(toCompare, answer{status: 500})
	want(StatusBackoff, 1, time.Second, false, 32)
	for _, wait := range schedule.Endpoint[1:] {
		now = e.nextTry
		fail(toProbe, answer{timedOut: true})
		want(StatusBackoff, e.failures, wait, false, 1)
	}
	want(StatusBackoff, 10, 15*time.Minute, false, 1)
	fail(toProbe, answer{status: 503, retryAfter: time.Hour})
	want(StatusBackoff, 11, time.Hour, false, 1)
	fail(toProbe, answer{status: 503, retryAfter: time.Second})
	want(StatusBackoff, 12, 15*time.Minute, false, 1)
	e.succeeded()
	want(StatusOK, 0, 0, false, 2)
	fail(toDeliver, answer{status: 429, retryAfter: time.Minute})
	want(StatusBackoff, 1, time.Minute, false, 2)
	since := now
	now = since.Add(schedule.SuspendAfter - time.Second)
	fail(toProbe, answer{status: 500})
	want(StatusBackoff, 2, 2*time.Second, false, 2)
	now = since.Add(schedule.SuspendAfter)
	fail(toProbe, answer{status: 500})
	want(StatusSuspended, 3, 0, false, 2)
	if e.reason != ReasonUnreachable || !e.failingSince.Equal(since) {
		t.Errorf("it is %+v", e)
	}
	e.succeeded() // too late
	fail(toDeliver, answer{status: 500})
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
			l, why := m.b.choose(m.now)
			if l == nil {
				return
			}
			j := m.b.start(l, why)
			a := answer{status: 200}
			if j.event.Chat == "sick" {
				tries = append(tries, m.now.Sub(begin))
				a.status = 500
			}
			m.b.settle(j, a, m.now)
		}
	}
	add := func(chat string) {
		event := m.event()
		event.Chat = "sound"
		if chat != "" {
			event.Chat = "sick"
		}
		m.log = append(m.log, event)
		m.b.append(m.log[len(m.log)-1:])
		deliver()
	}
	add("sick")
	for len(m.b.deadLetters) == 0 && m.now.Sub(begin) < 24*time.Hour {
		add("")
		m.now = m.now.Add(time.Second)
		if l := m.b.wantsLane(m.now); l != nil {
			m.b.laneRead(l, m.b.epoch, []*entry{{sequence: 1, event: m.log[0]}}, 1, m.now)
		}
		deliver()
	}
	var waits []time.Duration
	for i := 1; i < len(tries); i++ {
		waits = append(waits, tries[i]-tries[i-1])
	}
	want := append([]time.Duration{0}, Schedule{}.withDefaults().Event...)
	if !slices.Equal(waits, want) {
		t.Errorf("it was tried after %v, want %v", waits, want)
	}
	if len(m.b.deadLetters) != 1 || m.b.deadLetters[0].Sequence != 1 || m.b.blockedChats() != 0 {
		t.Errorf("dead letters are %+v", m.b.deadLetters)
	}
}

// A replay that begins behind the event that blocks a chat leaves the chat to its
// lane, with all that the lane was to deliver.
func TestReplayBehindABlock(t *testing.T) {
	t.Parallel()
	schedule := Schedule{}.withDefaults()
	b := newBacklog(&schedule, Saved{
		State:   State{Status: StatusOK, Cursor: 10},
		Blocked: []BlockedChat{{Chat: "a", Sequence: 2, Through: 10}, {Chat: "b", Sequence: 7, Through: 8}},
	})
	if got, want := b.replay(5), (Replayed{FromSequence: 5, Events: 6}); got != want {
		t.Errorf("it answers %+v, want %+v", got, want)
	}
	b.read(4, []eventlog.Event{{Sequence: 5, Chat: "c"}, {Sequence: 6, Chat: "a"}, {Sequence: 7, Chat: "b"}}, 10)
	if a := b.lanes["a"]; a.block == nil || a.block.Sequence != 2 || a.block.Through != 10 || len(a.queue) != 0 {
		t.Errorf("the chat that was blocked before is %+v", a.block)
	}
	if l := b.lanes["b"]; l.block != nil || len(l.queue) != 1 {
		t.Errorf("the chat that comes again is blocked: %+v", l.block)
	}
	var p Progress
	b.take(&p)
	if p.State.Cursor != 4 || len(p.Unblocked) != 1 || p.Unblocked[0] != "b" || p.RevivedAfter == nil || *p.RevivedAfter != 4 {
		t.Errorf("saved is %+v", p)
	}
}

func TestPool(t *testing.T) {
	t.Parallel()
	p := &pool{size: 2}
	var order []string
	wait := func(name string, uses bool) func() bool {
		return func() bool {
			order = append(order, name)
			return uses
		}
	}
	for range 2 {
		if !p.enter(nil) {
			t.Fatal("there is no place")
		}
	}
	if p.enter(wait("a", true)) || p.enter(wait("b", false)) || p.enter(wait("c", true)) {
		t.Fatal("there is a third place")
	}
	p.leave() // to a
	p.leave() // to b, who can't use it, and on to c
	if want := []string{"a", "b", "c"}; !slices.Equal(order, want) || p.used != 2 {
		t.Errorf("%v were admitted, %d places are used", order, p.used)
	}
	p.leave()
	p.leave()
	if p.used != 0 {
		t.Errorf("%d places are used by nobody", p.used)
	}
}

// A slot that moves frees its place for others, once, and never after it was
// left.
func TestSlotMoves(t *testing.T) {
	t.Parallel()
	healthy, slow := &pool{size: 1}, &pool{size: 1}
	place := func() *slot {
		if !healthy.enter(nil) {
			t.Fatal("there is no place")
		}
		return &slot{pool: healthy}
	}
	first := place()
	first.move(slow)
	first.move(slow)
	second := place()
	second.move(slow) // beyond its size
	if healthy.used != 0 || slow.used != 2 {
		t.Errorf("%d and %d places are used", healthy.used, slow.used)
	}
	admitted := false
	if slow.enter(func() bool { admitted = true; return true }) {
		t.Error("a full pool lets in")
	}
	first.leave()
	if admitted || slow.used != 1 {
		t.Errorf("it is admitted while %d places are used", slow.used)
	}
	second.leave()
	if !admitted || slow.used != 1 {
		t.Errorf("it is admitted: %v; %d places are used", admitted, slow.used)
	}
	third := place()
	third.leave()
	third.move(slow)
	if healthy.used != 0 || slow.used != 1 {
		t.Errorf("after the last left %d and %d places are used", healthy.used, slow.used)
	}
}

func TestAttempts(t *testing.T) {
	t.Parallel()
	var h attempts
	for range 250 {
		h.add(Attempt{})
	}
	numbers := func(all []Attempt) string {
		if len(all) == 0 {
			return "none"
		}
		for i := range all[1:] {
			if all[i+1].Number != all[i].Number+1 {
				t.Errorf("%d comes after %d", all[i+1].Number, all[i].Number)
			}
		}
		return fmt.Sprint(all[0].Number, " to ", all[len(all)-1].Number)
	}
	taken := h.take(30)
	if got := numbers(taken); got != "221 to 250" {
		t.Errorf("taken are %s", got)
	}
	if got := numbers(h.take(30)); got != "none" {
		t.Errorf("left are %s", got)
	}
	h.add(Attempt{})
	h.putBack(taken)
	h.add(Attempt{})
	if got := numbers(h.take(100)); got != "221 to 252" {
		t.Errorf("after they were put back there are %s", got)
	}
	for range 120 {
		h.add(Attempt{})
	}
	taken = h.take(100)
	for range 60 {
		h.add(Attempt{})
	}
	h.putBack(taken)
	if got := numbers(h.take(100)); got != "333 to 432" {
		t.Errorf("of too many there are %s", got)
	}
}

func TestReadable(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"": "", "ok": "ok", "a\x00b": "a\uFFFDb", "\xff\xfe": "\uFFFD", "aé": "a\uFFFD", "abcd": "ab",
	} {
		if got := readable([]byte(body), 2); body != "a\x00b" && got != want {
			t.Errorf("%q reads %q, want %q", body, got, want)
		}
	}
	if got := readable([]byte("a\x00b"), 10); got != "a\uFFFDb" {
		t.Errorf("it reads %q", got)
	}
}
