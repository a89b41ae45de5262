// The clock, compared with those of the database and of the platform.

package doctor

import (
	"context"
	"time"
)

// clocked is the time of another clock.
type clocked struct {
	there, here time.Time
	known       bool
}

const (
	// clockOff is the difference that is reported, clockWrong the one at which certificates, signed
	// links and the platform's own checks begin to fail.
	clockOff, clockWrong = 5 * time.Second, 2 * time.Minute
	// dateExact is how precise a Date header is: whole seconds, and the time of the answer.
	dateExact = 3 * time.Second
)

// clocks compares the clock of this machine with others.
func (e *examination) clocks(ctx context.Context) []Finding {
	const setNTP = "let a time service set the clock: timedatectl set-ntp true, or chrony"
	var findings []Finding
	if e.isPostgres() && e.database != nil {
		const name = "clock, database's"
		before := e.config.Now()
		millis, err := e.database.Number(ctx, "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint")
		after := e.config.Now()
		if err != nil {
			findings = append(findings, warning(name, "see to the database first", "it can't be asked: %s", err))
		} else {
			findings = append(findings, compared(name, setNTP+", here and there", time.UnixMilli(millis), before.Add(after.Sub(before)/2), clockOff)) //nolint:mnd // the middle
		}
	}
	const name = "clock, platform's"
	select {
	case told := <-e.platformClock:
		if !told.known {
			return append(findings, warning(name, "see to the platform first, or compare with a clock that you trust", "the platform has not told its time"))
		}
		return append(findings, compared(name, setNTP, told.there, told.here, clockOff+dateExact))
	case <-ctx.Done():
		return append(findings, warning(name, "see to the platform first, or compare with a clock that you trust", "the platform has not told its time"))
	}
}

func compared(name, do string, there, here time.Time, limit time.Duration) Finding {
	off := here.Sub(there)
	const text = "ahead"
	direction := text
	if off < 0 {
		off, direction = -off, "behind"
	}
	switch off = off.Round(time.Millisecond); {
	case off > clockWrong:
		return wrong(name, do, "this machine's clock is %s %s", off, direction)
	case off > limit:
		return warning(name, do, "this machine's clock is %s %s", off, direction)
	}
	return ok(name, "this machine's clock differs by no more than %s", limit)
}
