// What has elapsed since the machine was started.

package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// sinceBoot is how long the machine has been on, including the time for which it slept.
func sinceBoot() time.Duration {
	var at unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &at); err != nil {
		return time.Since(started)
	}
	return time.Duration(at.Nano())
}
