// What columns hold.

package table

import (
	"encoding/json"
	"time"
)

// Millis returns a time as columns hold it: Unix milliseconds UTC, 0 for the zero time.
func Millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// Time returns the time in a column.
func Time(millis int64) time.Time {
	if millis == 0 {
		return time.Time{}
	}
	return time.UnixMilli(millis).UTC()
}

// NotNull returns an empty slice for nil. The columns of bytes are NOT NULL, and drivers
// write a nil slice as NULL.
func NotNull(value []byte) []byte {
	if value == nil {
		return []byte{}
	}
	return value
}

// OrNil returns nil for an empty slice.
func OrNil(value []byte) []byte {
	if len(value) == 0 {
		return nil
	}
	return value
}

// Into makes a function that reads a row into the fields of a T.
func Into[T any](fields func(item *T) []any) func(row Scanner) (T, error) {
	return func(row Scanner) (item T, err error) {
		err = row.Scan(fields(&item)...)
		return item, err
	}
}

// Value reads a row of one value.
func Value[T any](row Scanner) (value T, err error) {
	err = row.Scan(&value)
	return value, err
}

// ScanTime reads a row of one time.
func ScanTime(row Scanner) (time.Time, error) {
	millis, err := Value[int64](row)
	return Time(millis), err
}

// NoTexts is the column of a list without texts.
const NoTexts = "[]"

// Texts returns a list as columns and parameters hold it: a JSON array.
func Texts[T ~string](values []T) string {
	if len(values) == 0 {
		return NoTexts // a nil slice would be encoded as null
	}
	encoded, err := json.Marshal(values)
	if err != nil {
		panic(err) // every text can be encoded
	}
	return string(encoded)
}
