// Memory that nothing needs any more goes back to the system.

package server

import (
	"context"
	"log/slog"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// memoryPause lies between two looks at the memory.
	memoryPause = 20 * time.Second
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
// afterwards. At the first rest the pages of the program's file that only the start has
// needed go too.
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
	before, left, started := m.read(), uint64(0), false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		now := m.read()
		if now.made-before.made < busyMemory && !started {
			started = true
			if err := m.forget(); err != nil {
				m.logger.WarnContext(ctx, "the pages of the program that only the start needs stay in memory", slog.Any("error", err))
			}
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
