package wire

import (
	"context"
	"time"
)

// Pause waits for the delay, or until ctx ends.
func Pause(ctx context.Context, delay time.Duration) {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
