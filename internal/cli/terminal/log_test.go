package terminal

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/testkit/cases"
)

// In a terminal, dev logs a short line for each request, without empty values.
func TestShortLog(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	logger := ShortLog(&out, slog.LevelInfo, false)
	ctx := context.Background()
	logger.LogAttrs(ctx, slog.LevelInfo, "request", slog.String("method", "POST"), slog.String("route", "/api/message/{instanceId}/text"),
		slog.Int("status", 201), slog.Duration("duration", 4321*time.Microsecond), slog.String("request_id", "x"))
	logger.LogAttrs(ctx, slog.LevelInfo, "status changed", slog.String("status", "connected"), slog.String("reason", ""))
	logger.LogAttrs(ctx, slog.LevelError, "request", slog.String("method", "GET"), slog.String("error", "it broke"))
	lines := strings.Split(out.String(), "\n")
	if len(lines) != 4 || !strings.HasSuffix(lines[0], "INF POST …/text 201 4ms") ||
		!strings.HasSuffix(lines[1], "status changed status=connected") || !strings.Contains(lines[2], "it broke") {
		t.Errorf("wrote %s", out.String())
	}
}

// A short line has no placeholder, and no duration of zero.
func TestShortLines(t *testing.T) {
	t.Parallel()
	for route, want := range cases.Sorted(map[string]string{
		"/api/instances/{instanceId}":               "/api/instances/…",
		"/api/message/{instanceId}/text":            "…/text",
		"/api/groups/{instanceId}/members/{member}": "…/members/…",
		"/api/instances":                            "/api/instances",
		"":                                          "",
	}) {
		if got := shortRoute(route); got != want {
			t.Errorf("%s: %s, want %s", route, got, want)
		}
	}
	for took, want := range cases.Sorted(map[time.Duration]string{
		0: "<1ms", 999 * time.Microsecond: "<1ms", time.Millisecond: "1ms", 1501 * time.Millisecond: "1.501s",
	}) {
		if got := shortDuration(took); got != want {
			t.Errorf("%d: %s, want %s", took, got, want)
		}
	}
}
