package server

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"runtime/debug"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/recado-project/recado/internal/testkit/cases"
)

// Memory goes back when the program has come to rest, and only then; what can't be given
// back is not tried again and again.
func TestMemoryGoesBackAtRest(t *testing.T) {
	t.Parallel()
	const mb = 1 << 20
	for name, test := range cases.Sorted(map[string]struct {
		looks  []memoryUse // one each pause
		sticks uint64      // bytes beyond what is in use that can't be given back
		freed  int
	}{
		"at rest, with little to give":        {[]memoryUse{{live: 100 * mb, held: 115 * mb}, {made: 10 * mb, live: 100 * mb, held: 115 * mb}}, 0, 0},
		"at rest after a peak":                {[]memoryUse{{live: 100 * mb, held: 200 * mb}, {made: 10 * mb, live: 100 * mb, held: 101 * mb}}, 0, 1},
		"at work":                             {[]memoryUse{{live: 100 * mb, held: 200 * mb, made: 500 * mb}, {made: 1000 * mb, live: 100 * mb, held: 200 * mb}}, 0, 0},
		"at rest after work":                  {[]memoryUse{{live: 100 * mb, held: 200 * mb, made: 500 * mb}, {made: 501 * mb, live: 100 * mb, held: 200 * mb}}, 0, 1},
		"after two peaks":                     {[]memoryUse{{live: 10 * mb, held: 50 * mb}, {live: 10 * mb, held: 50 * mb}}, 0, 2},
		"what sticks is left alone":           {[]memoryUse{{live: 10 * mb, held: 50 * mb}, {live: 10 * mb, held: 50 * mb}, {live: 10 * mb, held: 50 * mb}}, 40 * mb, 1},
		"more than what sticks is given back": {[]memoryUse{{live: 10 * mb, held: 50 * mb}, {live: 10 * mb, held: 90 * mb}}, 40 * mb, 2},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				now, freed, forgot := memoryUse{}, 0, 0
				var lock sync.Mutex
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() {
					done <- memory{
						read: func() memoryUse {
							lock.Lock()
							defer lock.Unlock()
							return now
						},
						forget: func() error {
							forgot++
							return nil
						},
						free: func() {
							lock.Lock()
							defer lock.Unlock()
							freed, now.held = freed+1, now.live+test.sticks
						},
					}.Run(ctx)
				}()
				synctest.Wait()
				for _, look := range test.looks {
					lock.Lock()
					now = look
					lock.Unlock()
					time.Sleep(memoryPause)
					synctest.Wait()
				}
				cancel()
				if err := <-done; err != nil || freed != test.freed {
					t.Errorf("gave back %d times, want %d (%v)", freed, test.freed, err)
				}
				if want := 1 + min(1, atRest(test.looks)); forgot != want {
					t.Errorf("gave the pages of the program back %d times, want %d", forgot, want)
				}
			})
		})
	}
}

// atRest counts the looks at a program that had done little since the one before.
func atRest(looks []memoryUse) int {
	n, before := 0, memoryUse{}
	for _, look := range looks {
		if look.made-before.made < busyMemory {
			n++
		}
		before = look
	}
	return n
}

// The names of what is read are the runtime's.
func TestMemoryIsRead(t *testing.T) {
	t.Parallel()
	if got := readMemory(); got.made == 0 || got.live == 0 || got.held == 0 {
		t.Errorf("read %+v", got)
	}
}

// The runtime keeps to nine tenths of what the control group allows, unless the environment says
// something else; without a limit it keeps to nothing.
func TestMemoryIsLimited(t *testing.T) {
	broken := errors.New("can't be read")
	for _, test := range []struct {
		name        string
		group       memlimit.Provider
		environment string
		limit, heap int64
		fails       error
	}{
		{name: "a container of 64 GiB", group: memlimit.Limit(64 << 30), limit: 64 << 30, heap: 64 << 30 / 10 * 9},
		{name: "GOMEMLIMIT", group: memlimit.Limit(64 << 30), environment: "40GiB", limit: 64 << 30, heap: 50 << 30},
		{name: "no limit", group: func() (uint64, error) { return 0, memlimit.ErrNoLimit }, heap: 50 << 30},
		{name: "the kernel's word for none", group: memlimit.Limit(math.MaxUint64), heap: 50 << 30},
		{name: "no control groups", group: func() (uint64, error) { return 0, memlimit.ErrCgroupsNotSupported }, heap: 50 << 30},
		{name: "an error", group: func() (uint64, error) { return 0, broken }, heap: 50 << 30, fails: broken},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := debug.SetMemoryLimit(50 << 30)
			defer debug.SetMemoryLimit(before)
			if test.environment != "" {
				t.Setenv("GOMEMLIMIT", test.environment)
			}
			limit, err := limitMemory(t.Context(), slog.New(slog.DiscardHandler), test.group)
			if heap := debug.SetMemoryLimit(-1); limit != test.limit || !errors.Is(err, test.fails) || heap-test.heap > 1<<20 || test.heap-heap > 1<<20 {
				t.Errorf("limit %d, heap %d, %v; want %d, %d, %v", limit, heap, err, test.limit, test.heap, test.fails)
			}
		})
	}
}
