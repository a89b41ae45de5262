package sandbox_test

import (
	"log/slog"
	"os"
	"testing"
	"time"

	"go.mau.fi/whatsmeow"
	"go.uber.org/goleak"

	"github.com/recado-project/recado/internal/sandbox/noise"
	"github.com/recado-project/recado/internal/signallog"
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
	goleak.VerifyTestMain(m,
		// Both goroutines are whatsmeow's own. The first ends a minute after the
		// last history came. The second hangs if a client is stopped while a frame
		// comes in.
		goleak.IgnoreTopFunction("go.mau.fi/whatsmeow.(*Client).handleHistorySyncNotificationLoop"),
		goleak.IgnoreTopFunction("go.mau.fi/whatsmeow/socket.(*FrameSocket).frameComplete"))
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
