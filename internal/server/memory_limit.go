// How much memory the process may take.

package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

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
