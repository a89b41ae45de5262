// One request and its answer: who asked, what for, and the line that is logged.

package contract

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/body"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/share"
	"github.com/recado-project/recado/internal/trace"
)

// requestIDHeader is the header of the id that the request's log line has too.
const requestIDHeader = "X-Request-Id"

// exchange is one request and its answer. It belongs to the request's goroutine.
type exchange struct {
	http.ResponseWriter

	request *http.Request
	api     *API
	id      string
	pattern string // of the route; empty for an unknown one
	status  int    // of the answer; 0 while there is none
	span    trace.Span
	failure error       // why the answer is one of the 500s; only the log has it
	code    string      // of the refusal; empty for none
	named   []slog.Attr // what was accepted, for the log

	key      gateway.Key      // of the client
	instance gateway.Instance // that the path names; empty for none
	hold     *share.Taken     // of a place among the requests, or the streams; nil for none
	body     *body.Body       // of the request, where the operation reads one
}

type exchangeKey struct{}

// exchangeOf returns the exchange that ctx belongs to.
func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// WriteHeader notes the status on its way.
func (x *exchange) WriteHeader(status int) {
	if x.status == 0 {
		x.status = status
	}
	x.ResponseWriter.WriteHeader(status)
}

// Write notes that the answer has begun.
func (x *exchange) Write(data []byte) (int, error) {
	if x.status == 0 {
		x.status = http.StatusOK
	}
	return x.ResponseWriter.Write(data)
}

// Unwrap lets http.ResponseController find the connection.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// observe surrounds all requests: it gives each an id, survives its panic, and
// logs it in one line.
func (a *API) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := a.config.Now()
		a.config.Watcher.RequestBegan()
		x := &exchange{ResponseWriter: w, api: a, id: rand.Text()}
		ctx := r.Context()
		if !isProbe(r.URL.Path) {
			ctx, x.span = a.config.Tracer.StartRequest(ctx, r.Header)
		}
		ctx = context.WithValue(ctx, exchangeKey{}, x)
		x.request = r.WithContext(ctx)
		header := w.Header()
		header.Set(requestIDHeader, x.id)
		// Unless the handler says otherwise, no browser guesses another type of the answer,
		// and no cache keeps an answer that may be private.
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Cache-Control", "no-store")
		defer x.finish(ctx, start)
		next.ServeHTTP(x, x.request)
	})
}

// finish ends the exchange, however its handler ended. It must be deferred itself.
func (x *exchange) finish(ctx context.Context, start time.Time) {
	cut := x.recovered(recover())
	x.hold.Release()
	if err := x.body.Close(); err != nil && x.failure == nil {
		x.failure = err // the answer has been given
	}
	took := x.api.config.Now().Sub(start)
	x.api.config.Watcher.RequestEnded(x.pattern, x.request.Method, x.status, took)
	x.log(ctx, took)
	x.endSpan()
	if cut {
		panic(http.ErrAbortHandler)
	}
}

// recovered answers in place of a handler that panicked with cause. It reports
// whether the connection has to be cut: half an answer must not look complete.
func (x *exchange) recovered(cause any) (cut bool) {
	switch cause {
	case nil:
		return false
	case http.ErrAbortHandler:
		return true
	}
	panicked := fmt.Errorf("contract: panic: %v\n%s", cause, debug.Stack())
	if x.status != 0 {
		x.failure = panicked
		return true
	}
	x.fail(x, panicked)
	return false
}

// isProbe reports whether the path is one that machines ask every few seconds.
func isProbe(path string) bool { return path == "/healthz" || path == "/readyz" }

// endSpan says in the trace what has become of the request.
func (x *exchange) endSpan() {
	if !x.span.Recording() {
		return
	}
	x.span.Name(strings.TrimSpace(x.request.Method + " " + x.pattern))
	x.span.Set(
		trace.Text("http.request.method", x.request.Method), trace.Text("http.route", x.pattern),
		trace.Number("http.response.status_code", x.status), trace.Text("recado.request_id", x.id),
	)
	if x.instance.ID != "" {
		x.span.Set(trace.Text("recado.instance_id", x.instance.ID))
	}
	if x.status >= http.StatusInternalServerError {
		x.span.Fail()
	}
	x.span.End(nil)
}

// log writes the one line of a request.
func (x *exchange) log(ctx context.Context, took time.Duration) {
	attrs := []slog.Attr{
		slog.String("method", x.request.Method),
		slog.String("route", x.pattern),
		slog.Int("status", x.status),
		slog.Duration("duration", took),
		slog.String("request_id", x.id),
	}
	if x.instance.ID != "" {
		attrs = append(attrs, slog.String("instance_id", x.instance.ID))
	}
	if x.code != "" {
		attrs = append(attrs, slog.String("code", x.code))
	}
	switch x.status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
		attrs = append(attrs, slog.String("client", x.api.config.Origin.Client(x.request)))
	}
	attrs = append(attrs, x.named...)
	level := slog.LevelInfo
	if x.failure != nil {
		level = slog.LevelError
		attrs = append(attrs, slog.Any("error", x.failure))
	}
	x.api.config.Logger.LogAttrs(ctx, level, "request", attrs...)
}
