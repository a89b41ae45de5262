package gateway

import (
	"context"
	"time"
)

// RemovalTime says by which time things are old enough to be removed, and whether anything may be
// removed at all because of its age: ok is false while the clock is not to be trusted, and whoever
// asked then removes nothing and says nothing.
type RemovalTime func(ctx context.Context) (now time.Time, ok bool)

// Trusting is the RemovalTime of a clock that is always trusted.
func Trusting(now func() time.Time) RemovalTime {
	return func(context.Context) (time.Time, bool) { return now(), true }
}
