// The place in a trace that a line of the log was written at.

package trace

import (
	"context"
	"log/slog"

	oteltrace "go.opentelemetry.io/otel/trace"
)

// logHandler adds trace_id and span_id to lines.
type logHandler struct{ slog.Handler }

// Logger returns a logger that adds trace_id and span_id to the lines that are written
// within a trace.
func Logger(logger *slog.Logger) *slog.Logger { return slog.New(logHandler{logger.Handler()}) }

// Handle writes a line.
func (h logHandler) Handle(ctx context.Context, line slog.Record) error {
	if place := oteltrace.SpanContextFromContext(ctx); place.IsValid() {
		line = line.Clone()
		line.AddAttrs(slog.String("trace_id", place.TraceID().String()), slog.String("span_id", place.SpanID().String()))
	}
	return h.Handler.Handle(ctx, line)
}

// WithAttrs returns the handler with attributes.
func (h logHandler) WithAttrs(attributes []slog.Attr) slog.Handler {
	return logHandler{h.Handler.WithAttrs(attributes)}
}

// WithGroup returns the handler with a group.
func (h logHandler) WithGroup(name string) slog.Handler { return logHandler{h.Handler.WithGroup(name)} }
