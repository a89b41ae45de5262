// A real Redis server for tests.

package movein_test

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/recado-project/recado/internal/testkit/await"
	testprocess "github.com/recado-project/recado/internal/testkit/process"
	"github.com/recado-project/recado/needs"
)

// serveRedis starts the server, and ends it with its own input: when the test ends, or the test
// binary, however that ends.
const serveRedis = `redis-server --bind 127.0.0.1 --port "$1" --dir "$2" --save "" --appendonly no >"$2/log" & server=$!; read -r _; kill "$server"; wait`

// startRedis returns the address (redis://127.0.0.1:…) of a server of this test's own, which is
// ended with the test. It keeps nothing on the disk.
//
// If Redis is not installed, the test does what needs.Require says.
func startRedis(tb testing.TB) (url string) {
	tb.Helper()
	needs.Require(tb, "redis-server")
	address := testprocess.FreeAddress(tb)
	_, port, _ := strings.Cut(address, ":")
	command := exec.CommandContext(tb.Context(), "sh", "-c", serveRedis, "sh", port, tb.TempDir())
	command.Cancel = func() error { return nil } // its input ends it
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
	await.Until(tb, "Redis to answer", func() bool { return pingRedis(tb.Context(), url) == nil })
	return url
}

func pingRedis(ctx context.Context, url string) error {
	conn, err := redis.DialURLContext(ctx, url)
	if err != nil {
		return err
	}
	_, err = redis.DoContext(conn, ctx, "PING")
	return errors.Join(err, conn.Close())
}
