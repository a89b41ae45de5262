package gateway_test

import (
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// What the platform says of a restriction comes in pieces: refusals without an end, ends
// without a refusal, and its lift.
func TestRestricted(t *testing.T) {
	t.Parallel()
	at := func(minutes int) time.Time {
		return time.Date(2026, 5, 4, 8, 0, 0, 0, time.UTC).Add(time.Duration(minutes) * time.Minute)
	}
	refused := func(minutes int) gateway.Restriction { return gateway.Restriction{At: at(minutes)} }
	told := func(minutes, until int) gateway.Restriction {
		return gateway.Restriction{At: at(minutes), Until: at(until)}
	}
	const never = -1
	for name, test := range cases.Sorted(map[string]struct {
		reports      []gateway.Restriction
		now          int
		since, until int // never: not active
	}{
		"nothing was said":               {nil, 0, never, never},
		"until a time":                   {[]gateway.Restriction{told(0, 300)}, 299, 0, 300},
		"that has come":                  {[]gateway.Restriction{told(0, 300)}, 300, never, never},
		"without an end, an hour":        {[]gateway.Restriction{refused(0)}, 59, 0, 60},
		"without an end, no longer":      {[]gateway.Restriction{refused(0)}, 60, never, never},
		"refused again, since the first": {[]gateway.Restriction{refused(0), refused(61)}, 62, 0, 121},
		"refused long after":             {[]gateway.Restriction{refused(0), refused(500)}, 501, 500, 560},
		"the end becomes known":          {[]gateway.Restriction{refused(0), told(1, 600)}, 2, 0, 600},
		"a refusal knows less":           {[]gateway.Restriction{told(0, 600), refused(5)}, 6, 0, 600},
		"another one, later":             {[]gateway.Restriction{told(0, 10), told(90, 700)}, 91, 90, 700},
		"it ends earlier than thought":   {[]gateway.Restriction{told(0, 600), told(5, 20)}, 21, never, never},
		"lifted":                         {[]gateway.Restriction{told(0, 600), {Lifted: true, At: at(5)}}, 6, never, never},
		"lifted, and set again":          {[]gateway.Restriction{told(0, 600), {Lifted: true, At: at(5)}, refused(7)}, 8, 7, 67},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var known gateway.Restricted
			for _, report := range test.reports {
				known = known.After(report)
			}
			until, active := known.Active(at(test.now))
			if active != (test.until != never) {
				t.Fatalf("active is %v: %+v", active, known)
			}
			if active && (!until.Equal(at(test.until)) || !known.Since.Equal(at(test.since))) {
				t.Errorf("since %v until %v, want %v and %v", known.Since, until, at(test.since), at(test.until))
			}
		})
	}
}
