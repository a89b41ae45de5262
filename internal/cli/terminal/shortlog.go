// The log for a person who watches it: one short line for each request, and no empty attributes.

package terminal

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/lmittmann/tint"
)

// shortHandler shortens what another handler writes.
type shortHandler struct{ slog.Handler }

// ShortLog returns a logger that writes records of a level or above to w, in colours if they
// are asked for.
func ShortLog(w io.Writer, level slog.Leveler, colours bool) *slog.Logger {
	return slog.New(shortHandler{tint.NewTextHandler(w, &tint.Options{
		Level: level, TimeFormat: time.TimeOnly, NoColor: !colours,
		ReplaceAttr: func(groups []string, attr slog.Attr) slog.Attr {
			if len(groups) == 0 && attr.Value.Kind() == slog.KindString && attr.Value.String() == "" {
				return slog.Attr{}
			}
			return attr
		},
	})})
}

// Handle writes one record.
func (h shortHandler) Handle(ctx context.Context, record slog.Record) error {
	if record.Message == "request" && record.Level < slog.LevelError {
		record = shortRequest(record)
	}
	return h.Handler.Handle(ctx, record)
}

// WithAttrs is the handler with attributes.
func (h shortHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return shortHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup is the handler with a group.
func (h shortHandler) WithGroup(name string) slog.Handler {
	return shortHandler{h.Handler.WithGroup(name)}
}

// shortRequest is the record of a request as "POST …/text 201 4ms".
func shortRequest(record slog.Record) slog.Record {
	var method, route, status, took string
	record.Attrs(func(attr slog.Attr) bool {
		switch attr.Key {
		case "method":
			method = attr.Value.String()
		case "route":
			route = attr.Value.String()
		case "status":
			status = attr.Value.String()
		case "duration":
			took = shortDuration(attr.Value.Duration())
		}
		return true
	})
	return slog.NewRecord(record.Time, record.Level, fmt.Sprintf("%s %s %s %s", method, shortRoute(route), status, took), record.PC)
}

// shortRoute shows a route without placeholders: /api/message/{instanceId}/text is
// …/text, and /api/instances/{instanceId} is /api/instances/….
func shortRoute(route string) string {
	if open := strings.LastIndexByte(route, '{'); open >= 0 && strings.HasSuffix(route, "}") {
		return shortRoute(route[:open]) + "…"
	}
	if cut := strings.LastIndexByte(route, '}'); cut >= 0 {
		return "…" + route[cut+1:]
	}
	return route
}

func shortDuration(took time.Duration) string {
	if took < time.Millisecond {
		return "<1ms"
	}
	return took.Round(time.Millisecond).String()
}
