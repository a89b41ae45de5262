package noise

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/recado-project/recado/internal/signallog"
)

func TestMain(m *testing.M) {
	signallog.Quiet()
	goleak.VerifyTestMain(m)
}
