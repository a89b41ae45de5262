// Package clock tells the time of the program, and says when it is not to be trusted: clocks are
// set, forwards and backwards, while a program works and while it is off. On PostgreSQL the time
// is the database server's, which all nodes share; on SQLite that of this machine.
package clock

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

const (
	// jump is from where a difference is no inaccuracy but a clock that was set.
	jump = time.Hour
	// settled is for how long nothing is removed after that, at least: somebody may notice that
	// the clock is wrong. It is longer after a larger jump, up to longest: what was
	// written meanwhile seems to be that much older than it is.
	settled, longest = 24 * time.Hour, 31 * 24 * time.Hour
	// look is how often the clock is compared, save how often it is noted what it says.
	look, save = 30 * time.Second, 10 * time.Minute
	// remind is how often it is said that nothing is removed.
	remind = time.Hour
	// lastNote is how long a stop waits for the note.
	lastNote = 2 * time.Second
)

// Store remembers what the clock said, over a stop of the program.
type Store interface {
	// DatabaseTime returns the time of the database server; known is false if it has no clock of
	// its own.
	DatabaseTime(ctx context.Context) (now time.Time, known bool, err error)
	// ClockSeen returns what SaveClockSeen was told last; the zero time if nothing.
	ClockSeen(ctx context.Context) (at time.Time, quiet time.Duration, err error)
	SaveClockSeen(ctx context.Context, at time.Time, quiet time.Duration) error
}

// Config is what a clock stands on. Logger is required.
type Config struct {
	Wall func() time.Time // nil: the clock of this machine
	// Elapsed grows evenly, whatever clocks are set to, also while the machine sleeps. nil: what
	// the system counts; if Wall is set, what that says, so that it is always trusted.
	Elapsed func() time.Duration
	Logger  *slog.Logger
}

// Clock tells the time. It is safe for concurrent use.
type Clock struct {
	config Config
	began  time.Time     // what it was
	at     time.Duration // what had elapsed then
	set    chan struct{} // the clock was set, which has to be noted

	mu    sync.Mutex
	store Store         // nil before Follow
	told  bool          // the database tells the time
	base  time.Time     // what the clock said when it was compared last
	since time.Duration // what had elapsed then
	quiet time.Duration // nothing is removed before so much has elapsed
	said  time.Duration // when somebody was reminded of that last
	saved time.Duration // when it was noted last what the clock says
}

// New makes a clock that tells the time of this machine.
func New(config Config) *Clock {
	if config.Elapsed == nil {
		config.Elapsed = sinceBoot
		if wall := config.Wall; wall != nil {
			first := wall()
			config.Elapsed = func() time.Duration { return wall().Sub(first) }
		}
	}
	if config.Wall == nil {
		config.Wall = time.Now
	}
	c := &Clock{config: config, set: make(chan struct{}, 1)}
	c.base, c.since = config.Wall().Round(0), config.Elapsed()
	c.began, c.at = c.base, c.since
	return c
}

// Follow lets the clock tell the time of the database from now on, if that has one, and
// compares it with what it was when the program worked last. It is called once, before anything is removed.
func (c *Clock) Follow(ctx context.Context, store Store) error {
	now, told, err := store.DatabaseTime(ctx)
	if err != nil {
		return fmt.Errorf("clock: %w", err)
	}
	seen, quiet, err := store.ClockSeen(ctx)
	if err != nil {
		return fmt.Errorf("clock: %w", err)
	}
	c.mu.Lock()
	c.store, c.told = store, told
	if told {
		c.base, c.since = now, c.config.Elapsed()
		c.began, c.at = c.base, c.since
	}
	c.quiet = c.since + quiet
	if away := c.base.Sub(seen); !seen.IsZero() && away.Abs() > jump {
		c.quiet = c.since + max(quiet, settled)
		c.said = c.since
		level := slog.LevelInfo
		if away < 0 { // it was not off for less than no time
			level = slog.LevelWarn
		}
		c.config.Logger.Log(ctx, level, "nothing that is old is removed for now: the gateway was off for long, or its clock was set",
			slog.Duration("difference", away), slog.Duration("for", c.quiet-c.since))
	}
	c.mu.Unlock()
	if err := c.note(ctx); err != nil && !errors.Is(err, gateway.ErrDatabaseAway) { // it is noted when the disk has room again
		return err
	}
	return nil
}

// Now is the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.told {
		return c.base.Add(c.config.Elapsed() - c.since)
	}
	now := c.config.Wall()
	if now.Sub(c.base) > jump || now.Before(c.base) { // it is cheaper than to ask what has elapsed
		c.compare(now)
	}
	return now
}

// Machine is the time by the clock of this machine.
func (c *Clock) Machine() time.Time { return c.config.Wall() }

// Steady is the time by a clock that nobody sets: for what is measured, and for pauses. It was right when
// the program began.
func (c *Clock) Steady() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.began.Add(c.config.Elapsed() - c.at)
}

// RemovalTime is the time by which things are old; ok is false if nothing may be removed because of
// its age, which is logged (gateway.RemovalTime).
func (c *Clock) RemovalTime(ctx context.Context) (now time.Time, ok bool) {
	now, err := c.ask(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.config.Logger.WarnContext(ctx, "nothing that is old is removed: the time is not known", slog.Any("error", err))
		return now, false
	}
	c.compare(now) //nolint:contextcheck // Now has none
	elapsed := c.config.Elapsed()
	if elapsed >= c.quiet {
		return now, true
	}
	if elapsed-c.said >= remind {
		c.said = elapsed
		c.config.Logger.ErrorContext(ctx, "nothing that is old is removed: the clock was set by more than an hour",
			slog.Duration("for", c.quiet-elapsed))
	}
	return now, false
}

// ask reads the clock.
func (c *Clock) ask(ctx context.Context) (time.Time, error) {
	c.mu.Lock()
	store, told := c.store, c.told
	c.mu.Unlock()
	if !told {
		return c.config.Wall(), nil
	}
	now, _, err := store.DatabaseTime(ctx)
	return now, err
}

// compare notices a clock that was set. The lock is held.
func (c *Clock) compare(now time.Time) {
	elapsed := c.config.Elapsed()
	off := now.Sub(c.base) - (elapsed - c.since)
	c.base, c.since = now.Round(0), elapsed
	if off.Abs() <= jump {
		return
	}
	c.quiet = max(c.quiet, elapsed+min(max(off.Abs(), settled), longest))
	c.said = elapsed
	select {
	case c.set <- struct{}{}:
	default:
	}
	c.config.Logger.ErrorContext(context.Background(), "the clock was set by more than an hour: nothing that is old is removed until it has been right for some time",
		slog.Duration("by", off), slog.Duration("for", c.quiet-elapsed))
}

// Run compares the clock, and notes what it says, until ctx ends.
func (c *Clock) Run(ctx context.Context) error {
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for {
		due := false
		select {
		case <-ticker.C:
		case <-c.set:
			due = true
		case <-ctx.Done():
			c.noteLast(ctx)
			return nil
		}
		now, err := c.ask(ctx)
		if err == nil {
			c.mu.Lock()
			c.compare(now) //nolint:contextcheck // as above
			due = due || c.since-c.saved >= save
			c.mu.Unlock()
			if due {
				err = c.note(ctx)
			}
		}
		if err != nil && ctx.Err() == nil {
			c.config.Logger.WarnContext(ctx, "clock not compared; it is tried again", slog.Any("error", err))
		}
	}
}

// noteLast writes what the clock says when the program stops.
func (c *Clock) noteLast(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastNote)
	defer cancel()
	if err := c.note(ctx); err != nil {
		c.config.Logger.WarnContext(ctx, "what the clock says is not noted", slog.Any("error", err))
	}
}

// note writes what the clock says.
func (c *Clock) note(ctx context.Context) error {
	c.mu.Lock()
	at, quiet, elapsed := c.base, max(0, c.quiet-c.since), c.since
	c.mu.Unlock()
	if err := c.store.SaveClockSeen(ctx, at, quiet); err != nil {
		return fmt.Errorf("clock: %w", err)
	}
	c.mu.Lock()
	c.saved = elapsed
	c.mu.Unlock()
	return nil
}

var _ gateway.RemovalTime = (*Clock)(nil).RemovalTime
