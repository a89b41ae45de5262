// How times are spelled for others.

package clock

import "time"

// Layout is how times are spelled in answers and events: RFC 3339 in UTC with milliseconds.
const Layout = "2006-01-02T15:04:05.000Z"

// AppendSpelled appends a time in Layout. For this layout the time package has no short way as it
// has for RFC 3339, which takes a fifth of the time; an answer may have dozens of times.
func AppendSpelled(b []byte, t time.Time) []byte {
	t = t.UTC()
	b = t.AppendFormat(b, time.RFC3339)
	b[len(b)-1] = '.' // instead of Z
	const digits = "0123456789"
	thousandths := t.Nanosecond() / int(time.Millisecond)
	return append(b, digits[thousandths/100], digits[thousandths/10%10], digits[thousandths%10], 'Z')
}

// Spelled returns a time in Layout.
func Spelled(t time.Time) string { return string(AppendSpelled(make([]byte, 0, len(Layout)), t)) }
