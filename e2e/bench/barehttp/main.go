// Command barehttp answers every request with the same bytes, on Go's HTTP server and with
// nothing else: no key is checked, no database is read. Its argument is the file that has the
// bytes; it prints where it listens. The benchmarks compare the gateway's reading with it.
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"
)

func main() {
	if err := run(context.Background()); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "barehttp:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	body, err := os.ReadFile(os.Args[1]) //nolint:gosec // the benchmark names the file
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	_, _ = fmt.Println("listening at", listener.Addr()) //nolint:forbidigo // it is this program's result
	server := http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body) //nolint:gosec // the benchmark's own bytes; a client that is gone needs no answer
	})}
	if err := server.Serve(listener); err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}
