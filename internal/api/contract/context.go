package contract

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/recado-project/recado/internal/body"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/share"
)

// The functions below are for handlers: they get the context of a request that the
// API serves.

// Key returns the API key of the request.
func Key(ctx context.Context) gateway.Key { return exchangeOf(ctx).key }

// Instance returns the instance that the path names.
func Instance(ctx context.Context) gateway.Instance { return exchangeOf(ctx).instance }

// Request returns the request.
func Request(ctx context.Context) *http.Request { return exchangeOf(ctx).request }

// Media returns the media that the body held as a data URI; nil where it held none.
func Media(ctx context.Context) *media.Decoded { return exchangeOf(ctx).body.Media() }

// HoldToEnd takes a place in a pool until the exchange ends, once for each exchange. It is for
// operations that have none among the requests: streams, and those of Raw.
func HoldToEnd(ctx context.Context, pool *share.Pool) (err error) {
	exchangeOf(ctx).hold, err = pool.Take(ctx, 1)
	return err
}

// LogFailure adds an error to the log line of the request. The client does not get
// its text.
func LogFailure(ctx context.Context, err error) { exchangeOf(ctx).failure = err }

// Accepted adds to the log line of the request under which identifiers something was accepted:
// they are what somebody asks about later.
func Accepted(ctx context.Context, id, platformID string, more ...slog.Attr) {
	exchangeOf(ctx).named = append([]slog.Attr{slog.String("message_id", id), slog.String("platform_id", platformID)}, more...)
}

// Fail answers a request with an error, for handlers of Raw.
func Fail(w http.ResponseWriter, r *http.Request, err error) { exchangeOf(r.Context()).fail(w, err) }

// Readmit finds out whether the request would be admitted again: an answer may last
// longer than its key or its instance. The error is the refusal.
func Readmit(ctx context.Context) error {
	x := exchangeOf(ctx)
	again := exchange{request: x.request}
	if err := x.api.admitKey(ctx, &again); err != nil {
		return err
	}
	return x.api.findInstance(ctx, &again)
}

// Wrong is the result of a Resolve method that found one field wrong.
func Wrong(field, message string) []error { return []error{body.Wrong(field, message)} }
