package contacts_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/recado-project/recado/internal/signallog"
)

func TestMain(m *testing.M) {
	signallog.Quiet() // libsignal makes its own logger without a lock
	goleak.VerifyTestMain(m)
}
