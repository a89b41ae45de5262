package server_test

import (
	"testing"
	"time"

	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/leak"
)

func TestMain(m *testing.M) {
	testkit.Tune()
	leak.Check(m)
}

// answerWait is how long the platform has for an answer in tests in which it gives none: enough for
// those that it does give, on a busy machine.
const answerWait = 5 * time.Second

// Phones of the tests: an even last digit exists under thirteen digits.
const (
	shopNumber     = "5511999990100"
	otherNumber    = "5511999990200"
	customerNumber = "5511988887766"
)
