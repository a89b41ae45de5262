// How times are written.

package contract

import (
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// TimestampLayout is RFC 3339 in UTC with milliseconds.
const TimestampLayout = "2006-01-02T15:04:05.000Z"

// Timestamp is a time as answers spell it, in TimestampLayout.
type Timestamp time.Time

// MarshalJSON spells the time.
func (t Timestamp) MarshalJSON() ([]byte, error) {
	const layout = `"` + TimestampLayout + `"`
	return time.Time(t).UTC().AppendFormat(make([]byte, 0, len(layout)), layout), nil
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
