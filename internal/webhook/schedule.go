package webhook

import (
	"slices"
	"time"

	"github.com/recado-project/recado/internal/webhook/backlog"
)

// Schedule holds the times of deliveries. The zero value of a field means the
// default, which is given in brackets.
type Schedule struct {
	// Endpoint is how long an endpoint is left alone after each failure in a
	// row; the last one repeats (1 s, 2 s, 5 s, 15 s, 30 s, 1, 2, 5, 10, 15 min).
	Endpoint []time.Duration
	// Event is how long a chat waits after each failure of an event that is itself at
	// fault; after the last one the event becomes a dead letter
	// (5 s, 30 s, 2 min, 10 min, 1 h, 3 h).
	Event []time.Duration
	// SuspendAfter is how long an endpoint may fail without one success (5 days).
	SuspendAfter time.Duration
	// MaxRetryAfter bounds what an endpoint may ask for (1 h).
	MaxRetryAfter time.Duration

	// ConnectTimeout bounds a connection with its TLS (5 s), Timeout the whole
	// request (15 s), BodyTimeout the wait for the body once the answer's headers
	// are there (1 s).
	ConnectTimeout time.Duration
	Timeout        time.Duration
	BodyTimeout    time.Duration
	// FileWait is how long a delivery waits for the file of its message, where the format has it in events, and for memory
	// for it (10 s). Then it goes without.
	FileWait time.Duration
	// SlowAfter is how long a request may take before it counts as slow (1 s) and
	// gives its place to quicker ones.
	SlowAfter time.Duration

	// SecretOverlap is how long a replaced secret still signs too (24 h).
	SecretOverlap time.Duration
	// ReplayEvery is how often the events of an instance may be replayed (1 min);
	// the first six times may follow each other.
	ReplayEvery time.Duration
	// FlushPause is how long a change may wait to be saved (250 ms).
	FlushPause time.Duration
	// SkipPause is how long it may wait to be saved that a filter has left events out (5 s).
	SkipPause time.Duration
	// StopWait bounds how long a stop waits for requests in flight (5 s).
	StopWait time.Duration
}

func (s Schedule) withDefaults() Schedule {
	if len(s.Endpoint) == 0 {
		s.Endpoint = []time.Duration{
			time.Second, 2 * time.Second, 5 * time.Second, 15 * time.Second, 30 * time.Second,
			time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute,
		}
	}
	if len(s.Event) == 0 {
		s.Event = []time.Duration{
			5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour, 3 * time.Hour,
		}
	}
	for field, value := range map[*time.Duration]time.Duration{
		&s.SuspendAfter:   5 * 24 * time.Hour,
		&s.MaxRetryAfter:  time.Hour,
		&s.ConnectTimeout: 5 * time.Second,
		&s.Timeout:        15 * time.Second,
		&s.BodyTimeout:    time.Second,
		&s.FileWait:       10 * time.Second,
		&s.SlowAfter:      time.Second,
		&s.SecretOverlap:  24 * time.Hour,
		&s.ReplayEvery:    time.Minute,
		&s.FlushPause:     250 * time.Millisecond,
		&s.SkipPause:      5 * time.Second,
		&s.StopWait:       5 * time.Second,
	} {
		if *field == 0 {
			*field = value
		}
	}
	return s
}

// waits returns the part of the schedule that a backlog needs.
func (s Schedule) waits() *backlog.Schedule {
	return &backlog.Schedule{Endpoint: s.Endpoint, Event: s.Event, SuspendAfter: s.SuspendAfter}
}

// longest is longer than any pause between two attempts.
func (s *Schedule) longest() time.Duration {
	return 2 * max(s.MaxRetryAfter, slices.Max(s.Endpoint), slices.Max(s.Event))
}

// Limits bounds what deliveries may take. The zero value of a field means the
// default, which is given in brackets.
type Limits struct {
	// Healthy is how many requests run at the same time to endpoints that answer
	// well (1,536), and Slow to those that are slow or fail (512).
	Healthy int
	Slow    int
	// Reads is how many reads of the log run at the same time (4).
	Reads int
}

func (l Limits) withDefaults() Limits {
	for field, value := range map[*int]int{&l.Healthy: 1_536, &l.Slow: 512, &l.Reads: 4} {
		if *field == 0 {
			*field = value
		}
	}
	return l
}
