package clock_test

import (
	"testing"
	"time"

	"github.com/recado-project/recado/internal/clock"
)

func TestTimesAreSpelledAsTheLayoutSays(t *testing.T) {
	t.Parallel()
	for _, at := range []time.Time{
		{},
		time.Unix(0, 0),
		time.Date(2026, 11, 28, 23, 59, 59, 999_999_999, time.FixedZone("east", 14*3600)),
		time.Date(2026, 1, 2, 3, 4, 5, 7_000_000, time.FixedZone("west", -3*3600)),
		time.Date(2026, 1, 2, 3, 4, 5, 70_999_999, time.UTC),
		time.Date(9999, 12, 31, 23, 59, 59, 123_000_000, time.UTC),
		time.Date(12_345, 1, 1, 0, 0, 0, 0, time.UTC),
	} {
		if got, want := clock.Spelled(at), at.UTC().Format(clock.Layout); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func BenchmarkAppendSpelled(b *testing.B) {
	at, spelled := time.Date(2026, 11, 28, 23, 59, 59, 999_999_999, time.UTC), make([]byte, 0, len(clock.Layout))
	for b.Loop() {
		spelled = clock.AppendSpelled(spelled[:0], at)
	}
}

func BenchmarkAppendFormat(b *testing.B) {
	at, spelled := time.Date(2026, 11, 28, 23, 59, 59, 999_999_999, time.UTC), make([]byte, 0, len(clock.Layout))
	for b.Loop() {
		spelled = at.AppendFormat(spelled[:0], clock.Layout)
	}
}
