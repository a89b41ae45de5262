// Spans are sent to a collector, over OTLP and HTTP. This is not in the room trace, which everybody
// imports: the libraries are large.

package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/recado-project/recado/internal/trace"
)

// spansWait is how long the last spans may take to be sent.
const spansWait = 3 * time.Second

// traceExporter sends the spans of its Tracer.
type traceExporter struct {
	provider *sdktrace.TracerProvider
	tracer   *trace.Tracer
}

// newTraceExporter makes an exporter to a collector: http://host:4318 or with a path of its own. If
// the address is empty, the variables OTEL_EXPORTER_OTLP_… say where; they also say what this does
// not. It connects to nothing yet, and a collector that can't be reached holds nothing up: spans are
// dropped.
func newTraceExporter(ctx context.Context, address, version string, logger *slog.Logger) (*traceExporter, error) {
	options, err := collectorAt(address)
	if err != nil {
		return nil, err
	}
	exporter, err := otlptracehttp.New(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("server: traces: %w", err)
	}
	// What the variables OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say comes last, so it
	// wins.
	about, err := resource.New(ctx, resource.WithAttributes(
		attribute.String("service.name", "recado"), attribute.String("service.version", version),
	), resource.WithHost(), resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("server: traces: %w", err)
	}
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(loggedExporter{SpanExporter: exporter, logger: logger}), sdktrace.WithResource(about),
	)
	tracer, err := trace.New(provider)
	if err != nil {
		return nil, fmt.Errorf("server: traces: %w", err)
	}
	return &traceExporter{provider: provider, tracer: tracer}, nil
}

// collectorAt turns an address into options; none for an empty one.
func collectorAt(address string) ([]otlptracehttp.Option, error) {
	if address == "" {
		return nil, nil
	}
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
		return nil, fmt.Errorf("server: traces: the address of the collector %q needs http:// or https:// and a host", address)
	}
	if strings.Trim(parsed.Path, "/") == "" {
		parsed.Path = "/v1/traces" // as OTEL_EXPORTER_OTLP_ENDPOINT means it
	}
	return []otlptracehttp.Option{otlptracehttp.WithEndpointURL(parsed.String())}, nil
}

// Tracer begins the traces that are sent.
func (e *traceExporter) Tracer() *trace.Tracer { return e.tracer }

// Close sends what is left, for some seconds at most. It is called once, after all spans
// have ended.
func (e *traceExporter) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), spansWait)
	defer cancel()
	if err := e.provider.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("server: traces: %w", err)
	}
	return nil
}

// loggedExporter is an exporter whose failures go to the log.
type loggedExporter struct {
	sdktrace.SpanExporter

	logger *slog.Logger
}

// ExportSpans sends spans. A failure concerns nobody but those who read the log.
func (l loggedExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if err := l.SpanExporter.ExportSpans(ctx, spans); err != nil {
		l.logger.WarnContext(ctx, "traces not sent", slog.Int("spans", len(spans)), slog.Any("error", err))
	}
	return nil
}
