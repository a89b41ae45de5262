package eventlog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/database"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const instance = "019aa1f4-5b0c-7e43-9d1f-6a1f2f6f3b11"

// clock is a clock that a test moves.
type clock struct {
	now atomic.Int64
	set bool         // it is not to be trusted
	log bytes.Buffer // what the retention says
}

func (c *clock) Now() time.Time              { return time.UnixMilli(c.now.Load()) }
func (c *clock) pass(duration time.Duration) { c.now.Add(duration.Milliseconds()) }

// nobodyWaits is the delivery of events that nothing was delivered of, and nobody waits for.
func nobodyWaits(string) (int64, bool) { return 0, false }

// newLog returns an empty log and its retention.
func newLog(t *testing.T, delivered func(string) (int64, bool)) (*eventlog.Log, *eventlog.Retention, *clock) {
	t.Helper()
	c, bell := &clock{}, new(eventlog.Bell)
	c.now.Store(1_795_000_000_000)
	logger := slog.New(slog.NewTextHandler(&c.log, nil))
	data, err := store.Open(t.Context(), store.Config{Path: database.File(t), Bell: bell, Logger: logger, Now: c.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := data.Close(); err != nil {
			t.Error(err)
		}
	})
	log, err := eventlog.New(eventlog.Config{Store: data, Bell: bell})
	if err != nil {
		t.Fatal(err)
	}
	retention, err := eventlog.NewRetention(eventlog.RetentionConfig{
		Store: data, Delivered: delivered, Keep: func() eventlog.Keep { return eventlog.Keep{Delivered: 3 * time.Hour, Undelivered: 7 * time.Hour} }, Logger: logger,
		Tenures: gateway.Alone{}, RemovalTime: func(context.Context) (time.Time, bool) { return c.Now(), !c.set },
	})
	if err != nil {
		t.Fatal(err)
	}
	return log, retention, c
}

func appendTest(t *testing.T, log *eventlog.Log, n int) {
	t.Helper()
	event, err := eventlog.NewEvent(instance, "", fmt.Sprint(n), time.UnixMilli(int64(n)), eventlog.WebhookTest{})
	if err == nil {
		err = log.Append(t.Context(), event)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// One event an hour, then a sweep at the eleventh hour. What is kept depends on
// who waits for what.
func TestSweep(t *testing.T) {
	t.Parallel()
	for name, c := range cases.Sorted(map[string]struct {
		cursor  int64
		waiting bool
		oldest  int64
		expired *eventlog.EventsExpired
	}{
		"nobody waits":                    {0, false, 8, nil},
		"everything was delivered":        {10, true, 8, nil},
		"the last three wait":             {7, true, 8, nil},
		"what waits is kept longer":       {5, true, 6, nil},
		"what waits for too long is lost": {2, true, 4, &eventlog.EventsExpired{FromSequence: 3, ToSequence: 3}},
		"nothing was delivered":           {0, true, 4, &eventlog.EventsExpired{FromSequence: 1, ToSequence: 3}},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log, retention, clock := newLog(t, func(string) (int64, bool) { return c.cursor, c.waiting })
			for n := range 10 {
				appendTest(t, log, n)
				clock.pass(time.Hour)
			}
			clock.set = true
			if err := retention.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			if oldest, _, err := log.Bounds(t.Context(), instance); oldest != 1 || err != nil {
				t.Errorf("by a clock that was set, what is left begins with %d, %v", oldest, err)
			}
			clock.set = false
			for range 2 { // the second one finds nothing more
				if err := retention.Sweep(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			events, err := log.Read(t.Context(), instance, 0, 100)
			if err != nil {
				t.Fatal(err)
			}
			if events[0].Sequence != c.oldest {
				t.Errorf("the oldest is %d, want %d", events[0].Sequence, c.oldest)
			}
			said := "" // whose they were, and how many
			if c.expired != nil {
				said = fmt.Sprintf("level=WARN msg=\"events removed that could not be delivered\" instance_id=%s events=%d ", instance, c.expired.ToSequence-c.expired.FromSequence+1)
			}
			if strings.Contains(clock.log.String(), "level=WARN") != (said != "") || !strings.Contains(clock.log.String(), said) {
				t.Errorf("the log has %s", clock.log.String())
			}
			var expired []eventlog.EventsExpired
			for _, event := range events {
				if event.Kind == eventlog.KindEventsExpired {
					var data eventlog.EventsExpired
					if err := json.Unmarshal(event.Data, &data); err != nil {
						t.Fatal(err)
					}
					expired = append(expired, data)
				}
			}
			if c.expired == nil && len(expired) > 0 || c.expired != nil && !slices.Equal(expired, []eventlog.EventsExpired{*c.expired}) {
				t.Errorf("told %+v, want %+v", expired, c.expired)
			}
		})
	}
}

// After everything has become old, the next event still gets the next number.
func TestSweepKeepsTheNumbers(t *testing.T) {
	t.Parallel()
	log, retention, clock := newLog(t, nobodyWaits)
	for n := range 3 {
		appendTest(t, log, n)
	}
	clock.pass(1_000 * time.Hour)
	if err := retention.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	appendTest(t, log, 3)
	if oldest, newest, err := log.Bounds(t.Context(), instance); oldest != 3 || newest != 4 || err != nil {
		t.Errorf("they reach from %d to %d (%v), want 3 to 4", oldest, newest, err)
	}
}

// More than one slice of a transaction is removed in one go.
func TestSweepOfMany(t *testing.T) {
	t.Parallel()
	log, retention, clock := newLog(t, nobodyWaits)
	var events []eventlog.Event
	for n := range 2_500 {
		event, err := eventlog.NewEvent(instance, "", fmt.Sprint(n), clock.Now(), eventlog.WebhookTest{})
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, event)
	}
	if err := log.Append(t.Context(), events...); err != nil {
		t.Fatal(err)
	}
	clock.pass(1_000 * time.Hour)
	if err := retention.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if oldest, newest, err := log.Bounds(t.Context(), instance); oldest != 2_500 || newest != 2_500 || err != nil {
		t.Errorf("they reach from %d to %d (%v)", oldest, newest, err)
	}
}

// A follower is told of what is appended after it began, and of nothing else.
func TestFollower(t *testing.T) {
	t.Parallel()
	log, _, _ := newLog(t, nobodyWaits)
	appendTest(t, log, 1)
	follower, other := log.Follow(instance), log.Follow("other")
	defer other.Close()
	quiet := func(f *eventlog.Follower, when string) {
		t.Helper()
		select {
		case <-f.Appended():
			t.Errorf("%s it was told", when)
		default:
		}
	}
	quiet(follower, "before anything happened")
	appendTest(t, log, 2)
	appendTest(t, log, 3)
	<-follower.Appended()
	quiet(follower, "a second time")
	quiet(other, "of another instance")
	follower.Close()
	follower.Close()
	appendTest(t, log, 4)
	quiet(follower, "after its end")
}

// Whatever is lost is named, the newest event of before too: it is not taken away
// by the event that tells of the others.
func TestSweepNamesAllThatIsLost(t *testing.T) {
	t.Parallel()
	log, retention, clock := newLog(t, func(string) (int64, bool) { return 0, true })
	for n := range 3 {
		appendTest(t, log, n)
	}
	clock.pass(100 * time.Hour)
	for _, want := range [][2]int64{{3, 4}, {4, 5}, {4, 5}} { // the oldest and the newest after each sweep
		if err := retention.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if oldest, newest, err := log.Bounds(t.Context(), instance); err != nil || [2]int64{oldest, newest} != want {
			t.Errorf("kept %d to %d, want %v (%v)", oldest, newest, want, err)
		}
	}
	events, err := log.Read(t.Context(), instance, 3, 100)
	if err != nil || len(events) != 2 {
		t.Fatalf("%d events (%v)", len(events), err)
	}
	for i, want := range []string{`{"fromSequence":1,"toSequence":2}`, `{"fromSequence":3,"toSequence":3}`} {
		if got := string(events[i].Data); got != want {
			t.Errorf("told %s, want %s", got, want)
		}
	}
}
