// A guard against a media host that stops in the middle.

package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// ErrSilent says that the media host stopped in the middle of a file.
var ErrSilent = errors.New("transport: the media host fell silent")

// GuardSilence makes a client from another one that ends a request with ErrSilent when
// nothing has been transferred for limit.
func GuardSilence(client *http.Client, limit time.Duration) *http.Client {
	return &http.Client{Transport: silenceGuard{next: client.Transport, limit: limit}}
}

// silenceGuard ends a request whose answer makes no progress. A client's time-out would
// not do, because it is the same for all sizes.
type silenceGuard struct {
	next  http.RoundTripper
	limit time.Duration
}

// RoundTrip sends the request; the time until the answer's head counts as well.
func (g silenceGuard) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx, end := context.WithCancelCause(request.Context())
	alarm := time.AfterFunc(g.limit, func() { end(ErrSilent) })
	if request.Body != nil {
		request = request.Clone(ctx)
		request.Body = &guardedBody{ReadCloser: request.Body, alarm: alarm, limit: g.limit}
	} else {
		request = request.WithContext(ctx)
	}
	response, err := g.next.RoundTrip(request)
	if err != nil {
		alarm.Stop()
		end(nil)
		return nil, orSilent(ctx, err)
	}
	response.Body = &guardedBody{ReadCloser: response.Body, alarm: alarm, limit: g.limit, ctx: ctx, end: end}
	return response, nil
}

// guardedBody resets the alarm with all data that passes through it.
type guardedBody struct {
	io.ReadCloser

	alarm *time.Timer
	limit time.Duration
	ctx   context.Context         //nolint:containedctx // the request's own
	end   context.CancelCauseFunc // nil for a request's body, which ends nothing
}

// Read reads the next bytes and resets the alarm.
func (b *guardedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.alarm.Reset(b.limit)
	}
	if err != nil && b.ctx != nil {
		err = orSilent(b.ctx, err)
	}
	return n, err
}

// orSilent returns ErrSilent instead of err if that is the cause. The error counts as
// cancelled as well, because whatsmeow would try another five times otherwise.
func orSilent(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), ErrSilent) {
		return errors.Join(ErrSilent, context.Canceled)
	}
	return err
}

// Close ends the request.
func (b *guardedBody) Close() error {
	err := b.ReadCloser.Close()
	if b.end != nil {
		b.alarm.Stop()
		b.end(nil)
	}
	return err
}
