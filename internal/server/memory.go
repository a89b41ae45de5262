// Memory that nothing needs any more goes back to the system.

package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

const (
	// memoryPause lies between two looks at the memory.
	memoryPause = 20 * time.Second
	// startPause is when the pages that only the start has needed go for the first time: soon, so that what limits or
	// measures a process sees what it needs, and not before the first requests are answered.
	startPause = 500 * time.Millisecond
	// busyMemory is how much is made between two looks by a program that is at work: what
	// it gave back it would ask for again at once.
	busyMemory = 100 << 20
	// idleMemory is how much may lie unused, beside a tenth of what is in use, before it
	// is worth the work of giving it back.
	idleMemory = 6 << 20
)

// memory gives memory back to the system when the program comes to rest. By itself the
// runtime keeps as much again as is in use, and more after a peak: loading thousands of
// instances and webhooks, or linking many, takes several times of what they need
// afterwards. The pages of the program's file that only the start has needed go too: soon, and
// once more at the first rest, when instances are connected.
type memory struct {
	logger *slog.Logger
	read   func() memoryUse // nil: the runtime's
	free   func()           // nil: the runtime's
	forget func() error     // gives back the program's pages; nil: the system's
}

// memoryUse is what the runtime says of its heap, in bytes.
type memoryUse struct {
	made uint64 // since the start of the process
	live uint64 // in use when garbage was collected last
	held uint64 // of the system's, for objects: in use, garbage and free
}

// Run looks at the memory until ctx ends.
func (m memory) Run(ctx context.Context) error {
	if m.read == nil {
		m.read = readMemory
	}
	if m.free == nil {
		m.free = debug.FreeOSMemory
	}
	if m.forget == nil {
		m.forget = forgetProgram
	}
	ticker := time.NewTicker(memoryPause)
	defer ticker.Stop()
	start := time.After(startPause)
	before, left, started := m.read(), uint64(0), false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-start:
			m.forgetStart(ctx)
			continue
		case <-ticker.C:
		}
		now := m.read()
		if now.made-before.made < busyMemory && !started {
			started = true
			m.forgetStart(ctx)
		}
		// What could not be given back the last time can't be given back now either.
		if now.made-before.made < busyMemory && now.held > max(now.live+now.live/10, left)+idleMemory {
			m.free()
			now = m.read()
			left = now.held
		}
		before = now
	}
}

// forgetStart gives back the pages of the program that were needed until now.
func (m memory) forgetStart(ctx context.Context) {
	if err := m.forget(); err != nil {
		m.logger.WarnContext(ctx, "the pages of the program that only the start needs stay in memory", slog.Any("error", err))
	}
}

// readMemory asks the runtime.
func readMemory() memoryUse {
	samples := []metrics.Sample{
		{Name: "/gc/heap/allocs:bytes"},
		{Name: "/gc/heap/live:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(samples)
	return memoryUse{
		made: samples[0].Value.Uint64(), live: samples[1].Value.Uint64(),
		held: samples[2].Value.Uint64() + samples[3].Value.Uint64(),
	}
}

// LimitMemory makes the runtime collect garbage in time: what the program holds stays under nine
// tenths of what its control group may take, which ends it otherwise, and leaves the rest to the
// programs that convert files. GOMEMLIMIT in the environment goes before. It returns the limit of the
// group, 0 if there is none.
func LimitMemory(ctx context.Context, logger *slog.Logger) (limit int64, err error) {
	return limitMemory(ctx, logger, memlimit.FromCgroup)
}

func limitMemory(ctx context.Context, logger *slog.Logger, group memlimit.Provider) (limit int64, err error) {
	most, err := group()
	switch {
	case errors.Is(err, memlimit.ErrNoLimit), errors.Is(err, memlimit.ErrNoCgroup), errors.Is(err, memlimit.ErrCgroupsNotSupported):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("server: find out how much memory the process may take: %w", err)
	case most >= math.MaxInt64: // the kernel's word for none
		return 0, nil
	}
	heap, err := memlimit.Set(memlimit.WithProvider(memlimit.Limit(most)))
	if err != nil {
		return 0, fmt.Errorf("server: %w", err)
	}
	logger.InfoContext(ctx, "memory is limited", slog.Uint64("limit", most), slog.Int64("for_the_program", min(heap, debug.SetMemoryLimit(-1))))
	return int64(most), nil
}
