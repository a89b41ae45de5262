//go:build !linux

// What has elapsed since the program was started.

package clock

import "time"

// sinceBoot is how long the program has worked. While the machine sleeps it may stand still, and
// the clock then seems to have been set.
func sinceBoot() time.Duration { return time.Since(started) }
