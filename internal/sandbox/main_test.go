package sandbox_test

import (
	"log/slog"
	"os"
	"testing"
	"time"

	"go.mau.fi/whatsmeow"

	"github.com/recado-project/recado/internal/sandbox/noise"
	"github.com/recado-project/recado/internal/signallog"
	"github.com/recado-project/recado/internal/testkit/leak"
)

// seed is the same for all servers of these tests, because whatsmeow keeps the key
// that it trusts in a global variable.
func seed() *[32]byte { return &[32]byte{1, 2, 3} }

func TestMain(m *testing.M) {
	if path := os.Getenv(childVariable); path != "" {
		if err := serveChild(path); err != nil {
			panic(err)
		}
		return
	}
	signallog.Quiet()
	authority, err := noise.NewAuthority(*seed(), time.Now())
	if err != nil {
		panic(err)
	}
	whatsmeow.WACertPubKey = authority.RootKey()
	leak.Check(m)
}

// testLogger writes the server's logs to the test's log.
func testLogger(tb testing.TB) *slog.Logger {
	tb.Helper()
	return slog.New(slog.NewTextHandler(testWriter{tb}, &slog.HandlerOptions{Level: slog.LevelInfo}))
}

type testWriter struct{ tb testing.TB }

func (w testWriter) Write(line []byte) (int, error) {
	w.tb.Log(string(line))
	return len(line), nil
}
