package whatsapp

import (
	"slices"
	"testing"
	"time"
)

// The waits between tries grow to a bound, begin anew after a connection that
// held, and stay short where the trouble is ours.
func TestPauses(t *testing.T) {
	t.Parallel()
	const unit = time.Microsecond
	p := pauses{min: unit, max: 8 * unit}
	follow := func(tries int, before func()) (next []time.Duration) {
		for range tries {
			before()
			p.wait(t.Context())
			next = append(next, p.next/unit)
		}
		return next
	}
	nothing := func() {}
	// What comes after each of them: none, 1, 2, 4, 8, 8 units.
	if got := follow(6, nothing); !slices.Equal(got, []time.Duration{1, 2, 4, 8, 8, 8}) {
		t.Errorf("the pauses grow to %v", got)
	}
	if got := follow(3, p.steady); !slices.Equal(got, []time.Duration{2, 2, 2}) {
		t.Errorf("the steady ones grow to %v", got)
	}
	p.reset()
	if got := follow(2, nothing); !slices.Equal(got, []time.Duration{1, 2}) {
		t.Errorf("the new ones grow to %v", got)
	}
}
