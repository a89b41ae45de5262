package cli

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/cli/terminal"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// The addresses have no password, or no TLS: whoever opens them to others is told so.
func TestServeWarns(t *testing.T) {
	t.Parallel()
	const api, admin = "listening beyond this machine", "the admin address is reachable beyond this machine"
	for name, c := range cases.Sorted(map[string]struct {
		listen, admin string
		want          []string
	}{
		"this machine":        {"127.0.0.1:8080", "[::1]:9090", nil},
		"no admin address":    {"localhost:8080", "", nil},
		"the API for all":     {"0.0.0.0:8080", "localhost:9090", []string{api}},
		"admin for all":       {"127.0.0.1:8080", ":9090", []string{admin}},
		"admin for a network": {"127.0.0.1:8080", "10.0.0.7:9090", []string{admin}},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var lines strings.Builder
			serveCommand{serveFlags: serveFlags{Listen: c.listen, AdminListen: c.admin}}.warn(t.Context(), terminal.Terminal{Logger: slog.New(slog.NewTextHandler(&lines, nil))})
			for _, text := range []string{api, admin} {
				if strings.Contains(lines.String(), text) != slices.Contains(c.want, text) {
					t.Errorf("warned %q", &lines)
				}
			}
		})
	}
}

// The lines that are always logged are those that the program writes.
func TestAlwaysLogged(t *testing.T) {
	t.Parallel()
	var source strings.Builder
	for _, room := range []string{"instance", "node"} {
		files, err := filepath.Glob(filepath.Join("..", room, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			source.Write(text)
		}
	}
	for _, text := range alwaysLogged() {
		if !strings.Contains(source.String(), strconv.Quote(text)) {
			t.Errorf("no line says %q", text)
		}
	}
}

// The variables of OpenTelemetry turn traces on, and off again.
func TestServeTraces(t *testing.T) {
	for name, c := range cases.Sorted(map[string]struct {
		flag      string
		variables map[string]string
		want      bool
	}{
		"nothing":         {},
		"the flag":        {flag: "http://collector:4318", want: true},
		"a variable":      {variables: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}, want: true},
		"for traces only": {variables: map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://collector:4318/v1/traces"}, want: true},
		"disabled":        {variables: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318", "OTEL_SDK_DISABLED": "true"}},
		"other signals":   {variables: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318", "OTEL_TRACES_EXPORTER": "none"}},
	}) {
		t.Run(name, func(t *testing.T) {
			for _, variable := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_SDK_DISABLED", "OTEL_TRACES_EXPORTER"} {
				t.Setenv(variable, c.variables[variable])
			}
			if got := (serveFlags{OTLPEndpoint: c.flag}).traces(); got != c.want {
				t.Errorf("traces: %v", got)
			}
		})
	}
}
