// Package progress shows people what they wait for: the progress of an upload, and a gateway
// that takes its time. The commands carry their requests through it.
package progress

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

// Transport carries requests, and shows what a person waits for.
type Transport struct {
	Next http.RoundTripper
	Host string // that is waited for
	// Upload is where the progress of large bodies is written; nil: it is not.
	Upload io.Writer
	// Note prints a line for people.
	Note func(format string, args ...any)
}

// RoundTrip carries one request.
func (c Transport) RoundTrip(request *http.Request) (*http.Response, error) {
	if c.Upload != nil && request.ContentLength > largeBody {
		request = request.Clone(request.Context())
		request.Body = &upload{ReadCloser: request.Body, to: c.Upload, total: request.ContentLength}
	}
	slow := time.AfterFunc(patience, func() { c.Note("waiting for %s …", c.Host) })
	defer slow.Stop()
	return c.Next.RoundTrip(request)
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
		_, _ = fmt.Fprintf(u.to, "\rsending: %d %% of %s", percent, Size(u.total/4*3)) // as notef
		if percent == 100 {
			_, _ = fmt.Fprint(u.to, "\r\x1b[K") // clears the line
		}
	}
	return count, err
}

// Size is a number of bytes as people read it.
func Size(size int64) string {
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
