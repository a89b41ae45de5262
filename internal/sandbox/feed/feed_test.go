package feed

import (
	"testing"

	"github.com/recado-project/recado/internal/testkit/cases"
)

const (
	ana   = "5511900000018"
	bruno = "5511900000034"
)

// woken reports whether a watcher was woken since the last call.
func woken(w *Watcher) bool {
	select {
	case <-w.Changed():
		return true
	default:
		return false
	}
}

func TestOnlyTheWatchersOfAPhoneAreWoken(t *testing.T) {
	t.Parallel()
	for name, c := range cases.Sorted(map[string]struct {
		ring                       func(b *Bell)
		wakesAna, wakesBruno, wall bool
	}{
		"one phone":       {func(b *Bell) { b.Ring(ana) }, true, false, true},
		"the other phone": {func(b *Bell) { b.Ring(bruno) }, false, true, true},
		"another phone":   {func(b *Bell) { b.Ring("4915100000014") }, false, false, true},
		"all phones":      {func(b *Bell) { b.RingAll() }, true, true, true},
		"none":            {func(*Bell) {}, false, false, false},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b Bell
			one, other, all := b.Watch(ana), b.Watch(bruno), b.WatchAll()
			c.ring(&b)
			if woken(one) != c.wakesAna || woken(other) != c.wakesBruno || woken(all) != c.wall {
				t.Error("the wrong watchers were woken")
			}
		})
	}
}

// A watcher that does not look must not hold up those who ring.
func TestManyRingsWakeOnce(t *testing.T) {
	t.Parallel()
	var b Bell
	w := b.Watch(ana)
	for range 1000 {
		b.Ring(ana)
	}
	if !woken(w) || woken(w) {
		t.Error("a thousand rings must wake exactly once")
	}
	b.Ring(ana)
	if !woken(w) {
		t.Error("a ring after the waking was lost")
	}
}

func TestClosedWatchersAreForgotten(t *testing.T) {
	t.Parallel()
	var b Bell
	first, second, all := b.Watch(ana), b.Watch(ana), b.WatchAll()
	first.Close()
	first.Close()
	b.Ring(ana)
	if woken(first) || !woken(second) {
		t.Error("closing one watcher must end that one alone")
	}
	second.Close()
	all.Close()
	if len(b.watchers) != 0 {
		t.Errorf("kept after the last watcher was closed: %v", b.watchers)
	}
}
