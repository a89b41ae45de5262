package server

import (
	"errors"
	"log/slog"
	"math"
	"runtime/debug"
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

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
