// How times are written.

package contract

import (
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/clock"
)

// Timestamp is a time as answers spell it (clock.Layout).
type Timestamp time.Time

// MarshalText spells the time. What it returns is not checked once more, as JSON would be.
func (t Timestamp) MarshalText() ([]byte, error) {
	return clock.AppendSpelled(make([]byte, 0, len(clock.Layout)), time.Time(t)), nil
}

// Schema describes the spelling.
func (Timestamp) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time", Examples: []any{"2026-11-20T14:22:10.123Z"}}
}

// TimestampOrNil is the value of a field that is null for the zero time.
func TimestampOrNil(t time.Time) *Timestamp {
	if t.IsZero() {
		return nil
	}
	return new(Timestamp(t))
}
