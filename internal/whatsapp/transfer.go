package whatsapp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"go.mau.fi/whatsmeow"
)

// slowest is how slow the media host may be, in bytes a second: what is slower than
// that keeps others waiting for no good.
const slowest = 64 << 10

// transferTime is how long a file of at most limit bytes may take.
func transferTime(limit int64) time.Duration {
	return time.Minute + time.Duration(limit/slowest)*time.Second
}

// limitedFile is a file that does not grow beyond a limit: what the media host says
// of a size binds nobody. whatsmeow writes into it from its start to its end, and
// again from its start. It has the methods that whatsmeow asks for and no others:
// io.Copy would find a way around Write.
type limitedFile struct {
	file  *os.File
	limit int64
	over  error // what a write beyond the limit is answered
}

var _ whatsmeow.File = limitedFile{}

// Write writes where the file stands, within the limit.
func (f limitedFile) Write(p []byte) (int, error) {
	at, err := f.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	if at+int64(len(p)) > f.limit {
		return 0, f.over
	}
	return f.file.Write(p)
}

// Read, and the methods below, are the file's own.
func (f limitedFile) Read(p []byte) (int, error)               { return f.file.Read(p) }
func (f limitedFile) ReadAt(p []byte, at int64) (int, error)   { return f.file.ReadAt(p, at) }
func (f limitedFile) WriteAt(p []byte, at int64) (int, error)  { return f.file.WriteAt(p, at) }
func (f limitedFile) Seek(at int64, whence int) (int64, error) { return f.file.Seek(at, whence) }
func (f limitedFile) Truncate(size int64) error                { return f.file.Truncate(size) }
func (f limitedFile) Stat() (os.FileInfo, error)               { return f.file.Stat() }

// errHostSilent says that the media host stopped in the middle of a file.
var errHostSilent = errors.New("whatsapp: the media host fell silent")

// silenceGuard ends a request whose answer comes no further. A client's time-out
// would not do: it is one for all sizes.
type silenceGuard struct {
	next  http.RoundTripper
	limit time.Duration
}

// RoundTrip sends the request; the time until the answer's head counts as well.
func (g silenceGuard) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx, end := context.WithCancelCause(request.Context())
	alarm := time.AfterFunc(g.limit, func() { end(errHostSilent) })
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

// guardedBody puts the alarm off with everything that passes through it.
type guardedBody struct {
	io.ReadCloser

	alarm *time.Timer
	limit time.Duration
	ctx   context.Context         //nolint:containedctx // the request's own
	end   context.CancelCauseFunc // nil for a request's body, which ends nothing
}

// Read reads what comes next.
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

// orSilent is errHostSilent in the place of err where that is the cause. It counts
// as cancelled, too: whatsmeow would try another five times.
func orSilent(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errHostSilent) {
		return errors.Join(errHostSilent, context.Canceled)
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
