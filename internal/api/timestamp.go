package api

import (
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// timestampLayout is RFC 3339 in UTC with milliseconds.
const timestampLayout = "2006-01-02T15:04:05.000Z"

// Timestamp is a time as answers spell it.
type Timestamp time.Time

// MarshalJSON spells the time.
func (t Timestamp) MarshalJSON() ([]byte, error) {
	return time.Time(t).UTC().AppendFormat(nil, `"`+timestampLayout+`"`), nil
}

// Schema describes the spelling.
func (Timestamp) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time", Examples: []any{"2026-11-20T14:22:10.123Z"}}
}

// timestampOrNil is the time for a field that is null where there is none.
func timestampOrNil(t time.Time) *Timestamp {
	if t.IsZero() {
		return nil
	}
	return new(Timestamp(t))
}
