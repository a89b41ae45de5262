package server_test

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// whatsmeow leaves its reader behind where a frame arrives in the moment in
	// which the connection is closed from this side.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("go.mau.fi/whatsmeow/socket.(*FrameSocket).frameComplete"))
}

// Phones of the tests: an even last digit exists under thirteen digits.
const (
	shopNumber     = "5511999990100"
	otherNumber    = "5511999990200"
	customerNumber = "5511988887766"
)
