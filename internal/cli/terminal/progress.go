// What a person waits for: the progress of an upload, and a gateway that takes its time.

package terminal

import (
	"fmt"
	"io"
	"net/http"
	"time"
)

const (
	// patience is how long a person waits before a note is printed.
	patience = 2 * time.Second
	// largeBody is the size from which an upload shows its progress.
	largeBody = 1 << 20
)

// Progress carries requests to a host, and shows what a person waits for.
func (t Terminal) Progress(next http.RoundTripper, host string) http.RoundTripper {
	return transport{t: t, next: next, host: host}
}

type transport struct {
	t    Terminal
	next http.RoundTripper
	host string
}

// RoundTrip carries one request.
func (c transport) RoundTrip(request *http.Request) (*http.Response, error) {
	if c.t.ErrIsTTY && request.ContentLength > largeBody {
		request = request.Clone(request.Context())
		request.Body = &upload{ReadCloser: request.Body, to: c.t.Err, total: request.ContentLength}
	}
	slow := time.AfterFunc(patience, func() { c.t.Notef("waiting for %s …", c.host) })
	defer slow.Stop()
	return c.next.RoundTrip(request)
}

// upload shows how much of a file was sent. Nearly all of the body is the file in
// base64, four characters for three bytes.
type upload struct {
	io.ReadCloser

	to          io.Writer
	total, sent int64
	shown       int64
}

// Read reads, and shows each percent once.
func (u *upload) Read(buffer []byte) (int, error) {
	count, err := u.ReadCloser.Read(buffer)
	u.sent += int64(count)
	if percent := u.sent * 100 / u.total; percent != u.shown {
		u.shown = percent
		_, _ = fmt.Fprintf(u.to, "\rsending: %d %% of %s", percent, Bytes(u.total/4*3)) // as Notef
		if percent == 100 {
			_, _ = fmt.Fprint(u.to, "\r\x1b[K") // clears the line
		}
	}
	return count, err
}

// Bytes is a number of bytes as people read it.
func Bytes(size int64) string {
	const unit = 1 << 10
	switch {
	case size < unit:
		return fmt.Sprintf("%d bytes", size)
	case size < unit*unit:
		return fmt.Sprintf("%.1f KiB", float64(size)/unit)
	default:
		return fmt.Sprintf("%.1f MiB", float64(size)/unit/unit)
	}
}
