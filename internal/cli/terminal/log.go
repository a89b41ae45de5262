// The log of a command, as its flags want it.

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

// Log has the flags of the log, which are the same for all commands.
type Log struct {
	Level  string `help:"Level of the log: debug, info, warn or error." enum:"debug,info,warn,error" default:"info" reload:""`
	Format string `help:"Format of the log: text, json for programs, or short for people; auto means short for dev in a terminal and text otherwise." enum:"auto,text,json,short" default:"auto"`
}

// Least is the level of the lines that are written, and of all above it.
func (l Log) Least() slog.Level {
	return map[string]slog.Level{"debug": slog.LevelDebug, "warn": slog.LevelWarn, "error": slog.LevelError}[l.Level]
}

func (l Log) logger(w io.Writer, isTTY bool, level slog.Leveler) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	switch l.Format {
	case "json":
		return slog.New(slog.NewJSONHandler(w, options))
	case "short":
		return ShortLog(w, level, isTTY)
	default:
		return slog.New(slog.NewTextHandler(w, options))
	}
}

// shortHandler shortens what another handler writes.
type shortHandler struct{ slog.Handler }

// ShortLog returns a logger for a person who watches: it writes one short line for each request, and no empty
// attributes, of records of a level or above, in colours if they are asked for.
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
