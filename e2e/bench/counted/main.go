//go:build unix

// Command counted is the program, and says on request what it has allocated: nobody else can
// see that of a process, and the program itself needs no such thing.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/recado-project/recado/internal/cli"
)

func main() {
	os.Exit(run())
}

func run() int {
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
}
