package data_test

import (
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/cli"
)

const (
	shopNumber = "5511999990200"
	// instanceID is an instance that does not exist.
	instanceID = "019aa1f4-5b0c-7e43-9d1f-6a1f2f6f3b11"
)

// run carries out one command line.
func run(t *testing.T, stdin string, args ...string) (code int, out, said string) {
	t.Helper()
	var stdout, stderr strings.Builder
	code = cli.Run(t.Context(), args, strings.NewReader(stdin), &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}
