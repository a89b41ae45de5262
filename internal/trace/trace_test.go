package trace_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.uber.org/goleak"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/trace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recorded is a tracer whose spans can be looked at.
func recorded(t *testing.T) (*trace.Tracer, *tracetest.InMemoryExporter) {
	t.Helper()
	spans := tracetest.NewInMemoryExporter()
	tracer, err := trace.New(sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans)))
	if err != nil {
		t.Fatal(err)
	}
	return tracer, spans
}

// The text of an error may name people. A code does not.
func TestSpansHoldNoTextsOfErrors(t *testing.T) {
	t.Parallel()
	tracer, spans := recorded(t)
	for code, err := range cases.Sorted(map[string]error{
		gateway.CodeNotRegistered: gateway.Errorf(gateway.Invalid, gateway.CodeNotRegistered, "5511988887766 has no account"),
		gateway.CodeInternal:      errors.New("send to 5511988887766: refused"),
	}) {
		spans.Reset()
		_, span := tracer.Start(t.Context(), "send")
		span.End(err)
		if got := spans.GetSpans()[0].Status.Description; got != code {
			t.Errorf("%v is noted as %q", err, got)
		}
	}
}

// Where nobody wants traces, none begins, whatever a client says.
func TestNoTracer(t *testing.T) {
	t.Parallel()
	var none *trace.Tracer
	header := http.Header{"Traceparent": {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}}
	ctx, span := none.StartRequest(t.Context(), header)
	none.Remember(ctx, "key")
	ctx, step := trace.Step(none.Recall(ctx, "key"), "step")
	for _, one := range []trace.Span{span, step} {
		one.Name("name")
		one.Set(trace.Number("number", 1))
		one.Fail()
		one.End(errors.New("failed"))
		if one.Recording() {
			t.Error("something is recorded")
		}
	}
	sent := http.Header{}
	trace.Inject(ctx, sent)
	if len(sent) != 0 || trace.Of(ctx) != nil {
		t.Errorf("sent on is %v", sent)
	}
}

// What has no context in common is held together by a key, and what a client says is
// continued.
func TestRecall(t *testing.T) {
	t.Parallel()
	tracer, spans := recorded(t)
	header := http.Header{"Traceparent": {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}}
	ctx, request := tracer.StartRequest(t.Context(), header)
	tracer.Remember(ctx, "message")
	request.End(nil)
	_, receipt := tracer.Start(tracer.Recall(t.Context(), "message"), "receipt")
	receipt.End(nil)
	_, other := tracer.Start(tracer.Recall(t.Context(), "another message"), "receipt")
	other.End(nil)
	found := spans.GetSpans()
	if found[0].SpanContext.TraceID().String() != "4bf92f3577b34da6a3ce929d0e0e4736" || found[1].Parent.SpanID() != found[0].SpanContext.SpanID() {
		t.Errorf("the receipt is %+v", found[1])
	}
	if found[2].SpanContext.TraceID() == found[0].SpanContext.TraceID() {
		t.Error("the receipt of another message is in the same trace")
	}
}

func TestLogNamesTheTrace(t *testing.T) {
	t.Parallel()
	tracer, _ := recorded(t)
	var lines strings.Builder
	logger := trace.Logger(slog.New(slog.NewTextHandler(&lines, nil))).With(slog.String("part", "a")).WithGroup("g")
	ctx, span := tracer.Start(t.Context(), "work")
	logger.InfoContext(ctx, "within")
	span.End(nil)
	logger.InfoContext(context.WithoutCancel(t.Context()), "outside")
	within, outside, _ := strings.Cut(lines.String(), "\n")
	if !strings.Contains(within, "trace_id=") || strings.Contains(outside, "trace_id=") {
		t.Errorf("logged is\n%s", &lines)
	}
}

// BenchmarkOff is what a send costs where nobody wants traces.
func BenchmarkOff(b *testing.B) {
	var none *trace.Tracer
	ctx := context.WithValue(b.Context(), http.ServerContextKey, 1)
	b.ReportAllocs()
	for b.Loop() {
		within, span := none.StartRequest(ctx, nil)
		_, step := trace.Step(within, "encode")
		step.End(nil)
		none.Remember(within, "key")
		_ = trace.Of(within)
		span.End(nil)
	}
}
