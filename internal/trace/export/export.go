// Package export sends spans to a collector, over OTLP and HTTP. Only the server makes one.
package export

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

	"github.com/recado-project/recado/internal/required"
	"github.com/recado-project/recado/internal/trace"
)

// stopWait is how long the last spans may take to be sent.
const stopWait = 3 * time.Second

// Config says where the spans go. Logger is required.
type Config struct {
	// Endpoint is the collector's address, http://host:4318 or with a path of its own. If it
	// is empty, the variables OTEL_EXPORTER_OTLP_… say where; they also say what this does
	// not.
	Endpoint string
	Version  string
	Logger   *slog.Logger
}

// Exporter sends the spans of its Tracer.
type Exporter struct {
	provider *sdktrace.TracerProvider
	tracer   *trace.Tracer
}

// New makes an exporter. It connects to nothing yet, and a collector that can't be reached
// holds nothing up: spans are dropped.
func New(ctx context.Context, config Config) (*Exporter, error) {
	if err := required.Check("export", config); err != nil {
		return nil, err
	}
	options, err := endpoint(config.Endpoint)
	if err != nil {
		return nil, err
	}
	exporter, err := otlptracehttp.New(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	// What the variables OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say comes last, so it
	// wins.
	about, err := resource.New(ctx, resource.WithAttributes(
		attribute.String("service.name", "recado"), attribute.String("service.version", config.Version),
	), resource.WithHost(), resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(logged{SpanExporter: exporter, logger: config.Logger}), sdktrace.WithResource(about),
	)
	tracer, err := trace.New(provider)
	if err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	return &Exporter{provider: provider, tracer: tracer}, nil
}

// endpoint turns an address into options; none for an empty one.
func endpoint(address string) ([]otlptracehttp.Option, error) {
	if address == "" {
		return nil, nil
	}
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
		return nil, fmt.Errorf("export: the address of the collector %q needs http:// or https:// and a host", address)
	}
	if strings.Trim(parsed.Path, "/") == "" {
		parsed.Path = "/v1/traces" // as OTEL_EXPORTER_OTLP_ENDPOINT means it
	}
	return []otlptracehttp.Option{otlptracehttp.WithEndpointURL(parsed.String())}, nil
}

// Tracer begins the traces that are sent.
func (e *Exporter) Tracer() *trace.Tracer { return e.tracer }

// Close sends what is left, for some seconds at most. It is called once, after all spans
// have ended.
func (e *Exporter) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopWait)
	defer cancel()
	if err := e.provider.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// logged is an exporter whose failures go to the log.
type logged struct {
	sdktrace.SpanExporter

	logger *slog.Logger
}

// ExportSpans sends spans. A failure concerns nobody but those who read the log.
func (l logged) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if err := l.SpanExporter.ExportSpans(ctx, spans); err != nil {
		l.logger.WarnContext(ctx, "traces not sent", slog.Int("spans", len(spans)), slog.Any("error", err))
	}
	return nil
}
