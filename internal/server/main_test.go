package server_test

import (
	"testing"

	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/leak"
)

func TestMain(m *testing.M) {
	testkit.Tune()
	leak.Check(m)
}

// Phones of the tests: an even last digit exists under thirteen digits.
const (
	shopNumber     = "5511999990100"
	otherNumber    = "5511999990200"
	customerNumber = "5511988887766"
)
