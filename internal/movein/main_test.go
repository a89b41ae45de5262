package movein_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/recado-project/recado/internal/signallog"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/leak"
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
	leak.Check(m, goleak.Cleanup(func(code int) {
		removeBaileys()
		os.Exit(code)
	}))
}
