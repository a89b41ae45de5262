// Package loglines holds the program's log to what it promises, in every test that starts the
// program: lines about an instance name it, and no line has people in it.
package loglines

import (
	"context"
	"log/slog"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// rooms are those whose lines are about an instance.
func rooms() []string { return []string{"whatsapp", "messaging", "webhook"} }

// OfTheProcess are the lines of these rooms that are about no single instance.
func OfTheProcess() []string {
	return []string{
		"newest version of the web client not found",
		"clock not compared with the platform's",
		"sessions claim a newer version of the web client from their next connection on",
		"the platform accepts the version of the web client again",
		"the platform refuses the version of the web client as outdated",
		"what was found of the web client's version is of no use",
		"newest version of the web client not kept",
		"files without a message in the queue not removed; the next start tries again",
		"messages in the queue are not sent",
		"old idempotency keys, changes and pending messages not swept; it is tried again",
		"old messages not removed; it is tried again",
		"webhooks of accounts not looked at; it is tried again",
		"states of webhooks not saved",
		"states of webhooks not saved before another node has them",
	}
}

// people are addresses and nodes of the platform.
var people = regexp.MustCompile(`\d{6,}(:\d+)?@(s\.whatsapp\.net|lid|c\.us)|<[a-z_]+ [a-z_]+="`)

// Checked returns a logger that writes to another, and fails the test for a line that breaks a
// promise, whatever its level.
func Checked(tb testing.TB, logger *slog.Logger) *slog.Logger {
	tb.Helper()
	return slog.New(handler{Handler: logger.Handler(), tb: tb})
}

type handler struct {
	slog.Handler

	tb    testing.TB
	attrs []slog.Attr
}

// Enabled reports true: the lines that nobody sees are checked too.
func (handler) Enabled(context.Context, slog.Level) bool { return true }

// Handle checks a line, and writes it if somebody wants to see it.
func (h handler) Handle(ctx context.Context, line slog.Record) error {
	if wrong := h.wrong(line); wrong != "" && h.tb.Context().Err() == nil {
		h.tb.Errorf("a line of the log %s: %s", wrong, line.Message)
	}
	if !h.Handler.Enabled(ctx, line.Level) {
		return nil
	}
	return h.Handler.Handle(ctx, line) //nolint:wrapcheck // it is the handler's own
}

// WithAttrs returns the handler with attributes.
func (h handler) WithAttrs(attributes []slog.Attr) slog.Handler {
	h.Handler, h.attrs = h.Handler.WithAttrs(attributes), slices.Concat(h.attrs, attributes)
	return h
}

// WithGroup returns the handler with a group.
func (h handler) WithGroup(name string) slog.Handler {
	h.Handler = h.Handler.WithGroup(name)
	return h
}

// wrong says what is wrong with a line; empty for nothing.
func (h handler) wrong(line slog.Record) string {
	named := slices.ContainsFunc(h.attrs, isInstance)
	text := line.Message
	line.Attrs(func(attr slog.Attr) bool {
		named = named || isInstance(attr)
		text += " " + attr.Value.String()
		return true
	})
	switch {
	case people.MatchString(text):
		return "names people, or has a node of the platform (" + people.FindString(text) + ")"
	case !named && isOfInstance(line.PC) && !slices.Contains(OfTheProcess(), line.Message):
		return "does not name its instance"
	default:
		return ""
	}
}

func isInstance(attr slog.Attr) bool { return attr.Key == "instance_id" && attr.Value.String() != "" }

// isOfInstance reports whether a line was written in one of the rooms.
func isOfInstance(pc uintptr) bool {
	frame, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	_, room, found := strings.Cut(frame.Function, "/internal/")
	return found && slices.ContainsFunc(rooms(), func(one string) bool {
		return strings.HasPrefix(room, one+".") || strings.HasPrefix(room, one+"/")
	})
}
