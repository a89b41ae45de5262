// Package trace follows one message through the program: from the request through the send
// to the receipt, and to the delivery of its events. The rooms begin spans here, and tell
// nobody where they end up; the server sends them away.
//
// It is off unless somebody wants it, and then a nil Tracer costs one look at a context.
// What has to stay together although no context connects it, such as a receipt and the
// message that it is for, is remembered in memory for a while, and not over a restart.
package trace

import (
	"context"
	"net/http"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/recado-project/recado/internal/gateway"
)

const (
	// scope is the name under which our spans are.
	scope = "github.com/recado-project/recado"
	// remembered is how many messages are remembered whose receipts are to be in the
	// same trace: a few megabytes.
	remembered = 20_000
)

// Tracer begins traces. It is safe for concurrent use; nil begins none.
type Tracer struct {
	tracer oteltrace.Tracer
	known  *lru.Cache[string, *Link]
}

// New makes a tracer whose spans go to a provider.
func New(provider oteltrace.TracerProvider) (*Tracer, error) {
	known, err := lru.New[string, *Link](remembered)
	return &Tracer{tracer: provider.Tracer(scope), known: known}, err
}

// Link is a place in a trace, which can be kept for later. It never changes.
type Link struct{ place oteltrace.SpanContext }

// Of returns the place in a trace that ctx is at; nil where there is none.
func Of(ctx context.Context) *Link {
	if place := oteltrace.SpanContextFromContext(ctx); place.IsValid() {
		return &Link{place}
	}
	return nil
}

// Apart returns ctx in no trace, for what outlives the request that began it.
func Apart(ctx context.Context) context.Context {
	if !oteltrace.SpanContextFromContext(ctx).IsValid() {
		return ctx
	}
	return oteltrace.ContextWithSpanContext(ctx, oteltrace.SpanContext{})
}

// At returns ctx at that place in a trace; in no trace where the place is nil.
func At(ctx context.Context, link *Link) context.Context {
	if link == nil {
		return Apart(ctx)
	}
	return oteltrace.ContextWithRemoteSpanContext(ctx, link.place)
}

// Remember keeps the place that ctx is at under a key, which is unique in the program.
func (t *Tracer) Remember(ctx context.Context, key string) {
	if t == nil {
		return
	}
	if link := Of(ctx); link != nil {
		t.known.Add(key, link)
	}
}

// Recall returns ctx at the place that was kept under a key; in no trace if there is none.
func (t *Tracer) Recall(ctx context.Context, key string) context.Context {
	if t == nil {
		return ctx
	}
	link, _ := t.known.Get(key)
	return At(ctx, link)
}

// Start begins a span, within the trace that ctx is in, or else of a new one. It must be
// ended.
func (t *Tracer) Start(ctx context.Context, name string, attributes ...Attribute) (context.Context, Span) {
	return t.start(ctx, name, oteltrace.SpanKindInternal, attributes)
}

// StartDelivery is Start for a request to another program.
func (t *Tracer) StartDelivery(ctx context.Context, name string, attributes ...Attribute) (context.Context, Span) {
	return t.start(ctx, name, oteltrace.SpanKindClient, attributes)
}

// StartRequest is Start for a request of another program, whose headers may say which trace
// it is in (W3C Trace Context).
func (t *Tracer) StartRequest(ctx context.Context, header http.Header, attributes ...Attribute) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(header))
	return t.start(ctx, "request", oteltrace.SpanKindServer, attributes)
}

func (t *Tracer) start(ctx context.Context, name string, kind oteltrace.SpanKind, attributes []Attribute) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	ctx, span := t.tracer.Start(ctx, name, oteltrace.WithSpanKind(kind), oteltrace.WithAttributes(attributes...))
	return ctx, Span{span}
}

// Step begins a span within the one that ctx is in. Where that is none of this program, or
// is not recorded, there is no span either.
func Step(ctx context.Context, name string) (context.Context, Span) {
	within := oteltrace.SpanFromContext(ctx)
	if !within.IsRecording() {
		return ctx, Span{}
	}
	ctx, span := within.TracerProvider().Tracer(scope).Start(ctx, name)
	return ctx, Span{span}
}

// Inject writes the place that ctx is at to the headers of a request (W3C Trace Context).
func Inject(ctx context.Context, header http.Header) {
	propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(header))
}

// Span is a piece of work with a beginning and an end. Its zero value is none, and does
// nothing.
type Span struct{ span oteltrace.Span }

// End ends the span, and notes that the work ended with an error: its code, because a text
// may name people. It may be called twice.
func (s Span) End(err error) {
	if s.span == nil {
		return
	}
	if err != nil {
		code := gateway.CodeInternal
		if known, ok := gateway.AsError(err); ok {
			code = known.Code
		}
		s.span.SetStatus(codes.Error, code)
	}
	s.span.End()
}

// Name gives the span another name.
func (s Span) Name(name string) {
	if s.span != nil {
		s.span.SetName(name)
	}
}

// Recording reports whether somebody will see the span.
func (s Span) Recording() bool { return s.span != nil && s.span.IsRecording() }

// Set adds to what the span says.
func (s Span) Set(attributes ...Attribute) {
	if s.span != nil {
		s.span.SetAttributes(attributes...)
	}
}

// Fail marks the work as failed, without an error of its own.
func (s Span) Fail() {
	if s.span != nil {
		s.span.SetStatus(codes.Error, "")
	}
}

// Attribute is what a span says of its work. It never holds the content of messages, numbers
// or keys.
type Attribute = attribute.KeyValue

// Text and Number make attributes.
func Text(name, value string) Attribute { return attribute.String(name, value) }

// Number makes an attribute.
func Number(name string, value int) Attribute { return attribute.Int(name, value) }
