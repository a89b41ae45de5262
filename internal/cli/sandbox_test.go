package cli

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/cli/terminal"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestListeningBeyondLoopbackIsWarnedOf(t *testing.T) {
	t.Parallel()
	for address, warned := range cases.Sorted(map[string]bool{
		"127.0.0.1:8090": false, "localhost:8090": false, "[::1]:0": false,
		"0.0.0.0:8090": true, ":8090": true, "[::]:8090": true, "192.168.1.5:8090": true,
	}) {
		var log bytes.Buffer
		warnBeyondLoopback(t.Context(), terminal.Terminal{Logger: slog.New(slog.NewTextHandler(&log, nil))}, address)
		if strings.Contains(log.String(), "level=WARN") != warned {
			t.Errorf("%s: %q", address, log.String())
		}
	}
}
