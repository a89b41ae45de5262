package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
)

// filesPath is where download links lead.
const filesPath = media.LinkPath + "{key...}"

// Files opens the files that download links lead to.
type Files interface {
	Open(ctx context.Context, target *url.URL, check func(ctx context.Context, key string) error) (*media.Blob, error)
}

// serveFiles mounts the download of files. A link carries its own right, so no key
// is asked for.
func (s *service) serveFiles() {
	if s.Files != nil {
		s.routes.HandleFunc(http.MethodGet+" "+filesPath, s.download)
	}
}

// download answers the file of a link, whole or in ranges.
func (s *service) download(w http.ResponseWriter, r *http.Request) {
	file, err := s.Files.Open(r.Context(), r.URL, s.Messages.CheckFile)
	if err != nil {
		exchangeOf(r.Context()).fail(w, err)
		return
	}
	defer func() {
		_ = file.Close() // it was only read
	}()
	header := w.Header()
	header.Set("Content-Type", file.MimeType)
	header.Set("Content-Disposition", contentDisposition(file.FileName))
	header.Set("Cache-Control", "private")
	// Strangers wrote these files, and the reference page is on the same host.
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	guarded := &rangeGuard{ResponseWriter: w}
	http.ServeContent(guarded, r, "", file.Created, file)
	if guarded.refused {
		header.Del("Content-Disposition") // the answer is not the file
		exchangeOf(r.Context()).fail(w, gateway.Errorf(gateway.OutOfRange, gateway.CodeOutOfRange,
			"the range %s can't be served: the file has %d bytes", r.Header.Get("Range"), file.Size))
	}
}

// rangeGuard keeps back the plain text with which http.ServeContent refuses a
// range, so that the refusal can be answered as every other one. Its headers,
// Content-Range above all, stay.
type rangeGuard struct {
	http.ResponseWriter

	refused bool
}

// WriteHeader passes on every status but that refusal.
func (g *rangeGuard) WriteHeader(status int) {
	if status == http.StatusRequestedRangeNotSatisfiable {
		g.refused = true
		return
	}
	g.ResponseWriter.WriteHeader(status)
}

// Write drops the text of the refusal.
func (g *rangeGuard) Write(data []byte) (int, error) {
	if g.refused {
		return len(data), nil
	}
	return g.ResponseWriter.Write(data)
}

// contentDisposition asks a client to save under a name (RFC 6266): in full for
// those that read UTF-8, and as near as ASCII comes for others.
func contentDisposition(fileName string) string {
	fileName = gateway.CleanFileName(fileName)
	if fileName == "" {
		return "attachment"
	}
	plain := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' || r == '\\' || r == '%' {
			return '_'
		}
		return r
	}, fileName)
	return `attachment; filename="` + plain + `"; filename*=UTF-8''` + escapeExtended(fileName)
}

// escapeExtended spells a value as RFC 5987 does.
func escapeExtended(value string) string {
	const allowed = "!#$&+-.^_`|~"
	var out strings.Builder
	for _, b := range []byte(value) {
		if b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || strings.IndexByte(allowed, b) >= 0 {
			out.WriteByte(b)
			continue
		}
		fmt.Fprintf(&out, "%%%02X", b)
	}
	return out.String()
}
