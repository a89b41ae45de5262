//go:build linux

package bench_test

import (
	"fmt"
	"syscall"
	"testing"
)

// allocations asks a gateway that is the program in counted what it has allocated so far.
func (s *server) allocations(tb testing.TB) (objects, bytes int64) {
	tb.Helper()
	if err := syscall.Kill(s.PID(), syscall.SIGUSR1); err != nil {
		tb.Fatal(err)
	}
	if _, err := fmt.Sscanf(s.Await("allocated "), "allocated %d %d", &objects, &bytes); err != nil {
		tb.Fatal(err)
	}
	return objects, bytes
}
