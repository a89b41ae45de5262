package backlog

import "time"

// Schedule holds the waits between tries. All fields are required.
type Schedule struct {
	// Endpoint is how long an endpoint is left alone after each failure in a row;
	// the last wait repeats.
	Endpoint []time.Duration
	// Event is how long a chat waits after each failure of an event that is itself
	// at fault; after the last one the event becomes a dead letter.
	Event []time.Duration
	// SuspendAfter is how long an endpoint may fail without one success.
	SuspendAfter time.Duration
}

// jitter is how far a wait may differ from its schedule, so that endpoints that
// failed together are not tried together.
const jitter = 0.2

// backoff returns the wait after the nth failure in a row, counted from 1; the
// last wait repeats. random is in [0, 1).
func backoff(waits []time.Duration, n int, random float64) time.Duration {
	wait := waits[min(max(n, 1), len(waits))-1]
	return time.Duration(float64(wait) * (1 - jitter + 2*jitter*random))
}
