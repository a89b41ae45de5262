package server_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/recado-project/recado/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.Tune()
	goleak.VerifyTestMain(m,
		// whatsmeow leaves its reader behind where a frame arrives in the moment in
		// which the connection is closed from this side.
		goleak.IgnoreTopFunction("go.mau.fi/whatsmeow/socket.(*FrameSocket).frameComplete"),
		// It goes on waiting, for up to 75 seconds, for app state that it asked for in the
		// moment in which the connection ended.
		goleak.IgnoreAnyFunction("go.mau.fi/whatsmeow.(*Client).handleAppStateSyncKeyShare"),
		// Settings that are asked for while a handshake goes on are waited for until its end.
		goleak.IgnoreAnyFunction("go.mau.fi/whatsmeow.(*Client).FetchAppState"),
		// A handshake can't be cut short: it ends by itself after 20 s.
		goleak.IgnoreTopFunction("go.mau.fi/whatsmeow.(*Client).doHandshake"),
	)
}

// Phones of the tests: an even last digit exists under thirteen digits.
const (
	shopNumber     = "5511999990100"
	otherNumber    = "5511999990200"
	customerNumber = "5511988887766"
)
