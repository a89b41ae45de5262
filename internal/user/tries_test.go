package user

import (
	"fmt"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// A user who has to wait keeps waiting, however much else is tried meanwhile, and what is refused takes
// no room.
func TestWaitsOutliveAFlood(t *testing.T) {
	t.Parallel()
	const flood = 3 * maxTries
	for name, test := range cases.Sorted(map[string]struct {
		waits who
		flood func(n int) who
	}{
		"of names for a user": {who{name: "ana", known: true}, func(n int) who { return who{name: fmt.Sprint("nob", n)} }},
		"of names for a name": {who{name: "nobody"}, func(n int) who { return who{name: fmt.Sprint("nob", n)} }},
		"of users for a user": {who{name: "ana", known: true}, func(n int) who { return who{name: fmt.Sprint("user", n), known: true} }},
		"of addresses": {who{address: "192.0.2.1"}, func(n int) who {
			return who{address: fmt.Sprintf("10.%d.%d.%d", n>>16&255, n>>8&255, n&255)}
		}},
		"of names from an address that waits": {who{address: "192.0.2.1"}, func(n int) who {
			return who{name: fmt.Sprint("nob", n), address: "192.0.2.1"}
		}},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			counted, err := newTries()
			if err != nil {
				t.Fatal(err)
			}
			now := time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)
			for range max(triesOfName, triesOfAddress) {
				_ = counted.try(now, test.waits) // the last ones are refused
			}
			others := counted.others.counted.Len() + counted.others.waiting.Len()
			for n := range flood {
				_ = counted.try(now, test.flood(n)) // it is refused, or is not
			}
			if err := counted.try(now, test.waits); gateway.KindOf(err) != gateway.RateLimited {
				t.Errorf("after the flood the answer is %v, want that one has to wait", err)
			}
			if after := counted.others.counted.Len() + counted.others.waiting.Len(); test.waits.address != "" && after != others {
				t.Errorf("refused tries have taken the room of %d names", after-others)
			}
		})
	}
}
