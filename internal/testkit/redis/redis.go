// Package redis gives tests a real Redis server. Only tests call it.
package redis

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/recado-project/recado/internal/testkit/process"
	"github.com/recado-project/recado/needs"
)

const (
	startTimeout = 30 * time.Second
	pollInterval = 20 * time.Millisecond
)

// keeper starts the server, and ends it with its own input: when the test ends, or the test
// binary, however that ends.
const keeper = `redis-server --bind 127.0.0.1 --port "$1" --dir "$2" --save "" --appendonly no >"$2/log" & server=$!; read -r _; kill "$server"; wait`

// Start returns the address (redis://127.0.0.1:…) of a server of this test's own, which is
// ended with the test. It keeps nothing on the disk.
//
// If Redis is not installed, the test does what needs.Require says.
func Start(tb testing.TB) (url string) {
	tb.Helper()
	needs.Require(tb, "redis-server")
	address := process.FreeAddress(tb)
	_, port, _ := strings.Cut(address, ":")
	command := exec.CommandContext(tb.Context(), "sh", "-c", keeper, "sh", port, tb.TempDir()) //nolint:gosec // the port is a number
	command.Cancel = func() error { return nil }                                               // its input ends it
	in, err := command.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := command.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = in.Close()
		_ = command.Wait() // the shell reports that the server was ended
	})
	url = "redis://" + address
	await(tb, url)
	return url
}

// await returns when the server answers.
func await(tb testing.TB, url string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), startTimeout)
	defer cancel()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		err := ping(ctx, url)
		if err == nil {
			return
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			tb.Fatalf("Redis does not answer: %v", err)
		}
	}
}

func ping(ctx context.Context, url string) error {
	conn, err := redis.DialURLContext(ctx, url)
	if err != nil {
		return err
	}
	_, err = redis.DoContext(conn, ctx, "PING")
	return errors.Join(err, conn.Close())
}
