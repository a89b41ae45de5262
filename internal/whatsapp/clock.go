// The clock of this machine, compared with the platform's.

package whatsapp

import (
	"context"
	"log/slog"
	"time"

	"github.com/recado-project/recado/internal/whatsapp/transport"
)

// looks is how often within Config.ClockEvery it is looked whether the clocks are to be compared: it
// takes a session that has reached the platform.
const looks = 90

// compareClocks compares the clocks until ctx ends.
func (c *Connector) compareClocks(ctx context.Context) {
	ticker := time.NewTicker(max(c.config.ClockEvery/looks, time.Millisecond))
	defer ticker.Stop()
	var last time.Time
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		way := c.versions.Way()
		if way == nil || time.Since(last) < c.config.ClockEvery {
			continue
		}
		last = time.Now() //nolint:forbidigo // a pause
		before := c.config.MachineClock()
		told, err := transport.Handshake(ctx, way)
		if err != nil {
			c.config.Logger.DebugContext(ctx, "clock not compared with the platform's", slog.Any("error", err))
		}
		if told.IsZero() {
			continue
		}
		middle := before.Add(c.config.MachineClock().Sub(before) / 2) //nolint:mnd // the middle
		// A header has whole seconds, half a second less on average than there was.
		off := middle.Sub(told.Add(time.Second / 2)) //nolint:mnd // the middle
		c.clockOff.Store(&off)
	}
}

// ClockOff is how far the clock of this machine is ahead of the platform's, to a second or so, as
// it was compared last; known is false before that.
func (c *Connector) ClockOff() (off time.Duration, known bool) {
	if off := c.clockOff.Load(); off != nil {
		return *off, true
	}
	return 0, false
}
