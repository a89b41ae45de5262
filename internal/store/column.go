package store

import "time"

// millis returns a time as columns hold it: Unix milliseconds UTC, 0 for the zero time.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// timeOf returns the time in a column.
func timeOf(millis int64) time.Time {
	if millis == 0 {
		return time.Time{}
	}
	return time.UnixMilli(millis).UTC()
}

// notNull returns an empty slice for nil. The columns of bytes are NOT NULL, and drivers
// write a nil slice as NULL.
func notNull(value []byte) []byte {
	if value == nil {
		return []byte{}
	}
	return value
}

// orNil returns nil for an empty slice.
func orNil(value []byte) []byte {
	if len(value) == 0 {
		return nil
	}
	return value
}

func scanText(row scanner) (string, error) {
	var text string
	err := row.Scan(&text)
	return text, err
}
