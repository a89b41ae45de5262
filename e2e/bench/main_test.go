//go:build linux

package bench_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"testing"

	"github.com/recado-project/recado/internal/cli"
	"github.com/recado-project/recado/internal/testkit/process"
)

// The test binary is the program as well, and then says on request what it has allocated:
// nobody else can see that of a process, and the program itself needs no such thing.
func TestMain(m *testing.M) {
	process.BeProgram(func() int {
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, syscall.SIGUSR1)
		go func() {
			for range asked {
				var memory runtime.MemStats
				runtime.ReadMemStats(&memory)
				_, _ = fmt.Fprintf(os.Stdout, "allocated %d %d\n", memory.Mallocs, memory.TotalAlloc) // the test waits for it
			}
		}()
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		return cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	})
	os.Exit(m.Run())
}

// allocations asks a gateway that is the test binary what it has allocated so far.
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
