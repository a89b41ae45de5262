package store

import "time"

// millis is a time as columns hold it: Unix milliseconds UTC, 0 for the zero
// time.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// timeOf is the time in a column.
func timeOf(millis int64) time.Time {
	if millis == 0 {
		return time.Time{}
	}
	return time.UnixMilli(millis).UTC()
}

// notNull makes an empty value of none: the columns of bytes are NOT NULL, and
// a nil slice is NULL to the drivers.
func notNull(value []byte) []byte {
	if value == nil {
		return []byte{}
	}
	return value
}

// orNil is the other way round.
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
