package clock_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/recado-project/recado/internal/clock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const day = 24 * time.Hour

// world is a machine and a database whose clocks a test sets.
type world struct {
	elapsed, wall, database time.Duration
	told                    bool // the database has a clock
	away                    error
	noted
}

// noted is what a clock has noted.
type noted struct {
	mu    sync.Mutex
	seen  time.Time
	quiet time.Duration
}

func (n *noted) read() (time.Time, time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.seen, n.quiet
}

//nolint:gochecknoglobals // a constant
var epoch = time.Date(2026, 11, 27, 3, 0, 0, 0, time.UTC)

func (w *world) DatabaseTime(context.Context) (time.Time, bool, error) {
	return epoch.Add(w.elapsed + w.database), w.told, w.away
}

func (w *world) ClockSeen(context.Context) (time.Time, time.Duration, error) {
	at, quiet := w.read()
	return at, quiet, nil
}

func (w *world) SaveClockSeen(_ context.Context, at time.Time, quiet time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen, w.quiet = at, quiet
	return w.away
}

// start starts a program; log gets what it says.
func (w *world) start(t *testing.T, log *bytes.Buffer) *clock.Clock {
	t.Helper()
	c := clock.New(clock.Config{
		Wall: func() time.Time { return epoch.Add(w.elapsed + w.wall) }, Elapsed: func() time.Duration { return w.elapsed },
		Logger: slog.New(slog.NewTextHandler(log, nil)),
	})
	if err := c.Follow(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	return c
}

// Nothing is removed after a clock was set, for a day and for as long as it was off; what it
// says is the time all the same.
func TestClockThatWasSet(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		moves func(w *world)
		lasts time.Duration // for which nothing is removed
	}{
		{"nothing", func(*world) {}, 0},
		{"a little", func(w *world) { w.wall += 50 * time.Minute }, 0},
		{"ahead", func(w *world) { w.wall += 3 * time.Hour }, day},
		{"behind", func(w *world) { w.wall -= 3 * time.Hour }, day},
		{"a week", func(w *world) { w.wall += 8 * day }, 8 * day},
		{"years", func(w *world) { w.wall -= 20 * 365 * day }, 31 * day},
		{"the machine's, with a database", func(w *world) { w.told = true; w.wall += 8 * day }, 0},
		{"the database's", func(w *world) { w.told = true; w.database += 8 * day }, 8 * day},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			w := &world{}
			var moved world
			test.moves(&moved)
			w.told = moved.told
			c := w.start(t, &log)
			if _, ok := c.RemovalTime(t.Context()); !ok {
				t.Fatal("nothing is removed at first")
			}
			steady := c.Steady()
			test.moves(w)
			for _, after := range []time.Duration{0, test.lasts - time.Minute, test.lasts + time.Minute} {
				after = max(0, after)
				if w.elapsed = after; after == test.lasts+time.Minute && test.lasts > 0 && c.Steady().Sub(steady) > after {
					t.Error("the steady clock was set as well")
				}
				now, ok := c.RemovalTime(t.Context())
				if want := after >= test.lasts; ok != want {
					t.Errorf("after %s something is removed: %t", after, ok)
				}
				want := epoch.Add(w.elapsed + w.wall)
				if w.told {
					want = epoch.Add(w.elapsed + w.database)
				}
				if !now.Equal(want) || !c.Now().Equal(want) {
					t.Errorf("it is %s, %s; want %s", now, c.Now(), want)
				}
			}
			if said := strings.Contains(log.String(), "level=ERROR"); said != (test.lasts > 0) {
				t.Errorf("the log has %s", &log)
			}
		})
	}
}

// A start after a long time, or at another time than before, removes nothing for a day. What
// was still to wait goes on.
func TestClockAtAStart(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		seen  time.Time
		quiet time.Duration
		lasts time.Duration
	}{
		{"the first", time.Time{}, 0, 0},
		{"soon", epoch.Add(-time.Minute), 0, 0},
		{"after a week", epoch.Add(-7 * day), 0, day},
		{"before the last one", epoch.Add(7 * day), 0, day},
		{"a clock that was set", epoch.Add(-time.Minute), 8 * day, 8 * day},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			w := &world{noted: noted{seen: test.seen, quiet: test.quiet}}
			c := w.start(t, &log)
			if _, ok := c.RemovalTime(t.Context()); ok != (test.lasts == 0) {
				t.Errorf("something is removed: %t", ok)
			}
			w.elapsed = test.lasts + time.Minute
			if _, ok := c.RemovalTime(t.Context()); !ok {
				t.Error("nothing is removed for longer")
			}
			w.told = true
			c = w.start(t, &log)
			w.away = errors.New("away")
			if _, ok := c.RemovalTime(t.Context()); ok {
				t.Error("something is removed although nobody knows the time")
			}
		})
	}
}

// Run notices by itself that the clock was set, and notes it for the next start.
func TestClockRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		var wall atomic.Int64
		began, w := time.Now(), &world{}
		c := clock.New(clock.Config{
			Wall: func() time.Time { return time.Now().Round(0).Add(time.Duration(wall.Load())) }, Elapsed: func() time.Duration { return time.Since(began) },
			Logger: slog.New(slog.NewTextHandler(&log, nil)),
		})
		if err := c.Follow(t.Context(), w); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.Run(ctx) }()
		time.Sleep(time.Hour)
		synctest.Wait()
		seen, _ := w.read()
		if gap := c.Now().Sub(seen); gap > 11*time.Minute {
			t.Errorf("it was noted %s ago what the clock says", gap)
		}
		wall.Store(int64(-8 * day))
		time.Sleep(time.Minute)
		synctest.Wait()
		if _, quiet := w.read(); quiet < 7*day {
			t.Errorf("that the clock was set is not noted: %s", quiet)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
