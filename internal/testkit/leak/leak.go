// Package leak runs the tests of a package and fails them if a goroutine is left behind. Only
// tests import it.
package leak

import (
	"testing"

	"go.uber.org/goleak"
)

// Check runs the tests of a package that has connections of whatsmeow, and ends the process. After
// tests that passed it fails if a goroutine is left that is not one of the few that whatsmeow
// leaves behind for a while, whoever uses it. options are further ones of goleak.
func Check(m *testing.M, options ...goleak.Option) {
	goleak.VerifyTestMain(m, append(options,
		// The reader stays where a frame arrives in the moment in which the connection is closed
		// from this side.
		goleak.IgnoreTopFunction("go.mau.fi/whatsmeow/socket.(*FrameSocket).frameComplete"),
		// App state that was asked for in the moment in which the connection ended is waited for,
		// up to 75 seconds.
		goleak.IgnoreAnyFunction("go.mau.fi/whatsmeow.(*Client).handleAppStateSyncKeyShare"),
		// A handshake can't be cut short: it ends by itself after 20 seconds. A client that wants to send
		// anything meanwhile waits for its lock, and so does the queue whose handler that is.
		goleak.IgnoreTopFunction("go.mau.fi/whatsmeow.(*Client).doHandshake"),
		goleak.IgnoreAnyFunction("go.mau.fi/whatsmeow.(*Client).sendNodeAndGetData"),
		goleak.IgnoreTopFunction("go.mau.fi/whatsmeow.(*Client).handlerQueueLoop"),
		goleak.IgnoreAnyFunction("go.mau.fi/whatsmeow.(*Client).FetchAppState"),
		// Histories are waited for, up to a minute after the last one came.
		goleak.IgnoreTopFunction("go.mau.fi/whatsmeow.(*Client).handleHistorySyncNotificationLoop"),
	)...)
}
