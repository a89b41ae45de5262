package browser_test

import (
	"os"
	"testing"

	"github.com/recado-project/recado/e2e/browsertest/browser"
)

// asVictim marks a test binary that starts the browser to be killed with it.
const asVictim = "RECADO_TEST_VICTIM"

func TestMain(m *testing.M) {
	if os.Getenv(asVictim) == "" {
		browser.Main(m)
	}
	os.Exit(m.Run()) // another process kills this one
}
