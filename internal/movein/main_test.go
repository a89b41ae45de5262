package movein_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/recado-project/recado/internal/signallog"
	"github.com/recado-project/recado/internal/testkit"
)

func TestMain(m *testing.M) {
	signallog.Quiet() // its logger is made at the first use, by whoever comes first
	if config := os.Getenv(bareVariable); config != "" {
		if err := runBare(config); err != nil {
			_, _ = fmt.Fprintln(os.Stderr, "the other program:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	testkit.Tune()
	goleak.VerifyTestMain(m,
		goleak.Cleanup(func(code int) {
			removeBaileys()
			os.Exit(code)
		}),
		// whatsmeow leaves its reader behind where a frame arrives in the moment in
		// which the connection is closed from this side.
		goleak.IgnoreTopFunction("go.mau.fi/whatsmeow/socket.(*FrameSocket).frameComplete"),
		// It goes on waiting, for up to 75 seconds, for app state that it asked for in the
		// moment in which the connection ended.
		goleak.IgnoreAnyFunction("go.mau.fi/whatsmeow.(*Client).handleAppStateSyncKeyShare"),
		// A handshake can't be cut short: it ends by itself after 20 s.
		goleak.IgnoreTopFunction("go.mau.fi/whatsmeow.(*Client).doHandshake"),
	)
}
