// Command recado is a self-hosted gateway that gives programs an HTTP API to a
// phone messenger.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/recado-project/recado/internal/cli"
)

func main() {
	os.Exit(run())
}

// run ends the command at the first interrupt, and lets a second one kill it.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}
