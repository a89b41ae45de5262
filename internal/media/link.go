package media

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// LinkPath is where the handler of links is to be mounted, and what the path of
// a link begins with.
const LinkPath = "/media/"

// MinLinkSecret is the length in bytes that the secret of Links must have.
const MinLinkSecret = 32

// Links signs links to files of a blob store and serves them. A link needs no
// key; it works until it expires, and not with any character changed. Links is
// safe for concurrent use.
type Links struct {
	blobs  *Blobs
	secret []byte
	now    func() time.Time
	fail   func(w http.ResponseWriter, r *http.Request, err error)
	check  func(ctx context.Context, key string) error
}

// NewLinks makes links that only one with the secret can make. fail answers a
// request with an error; a nil clock means the wall clock.
func NewLinks(blobs *Blobs, secret []byte, now func() time.Time, fail func(w http.ResponseWriter, r *http.Request, err error)) (*Links, error) {
	if len(secret) < MinLinkSecret {
		return nil, fmt.Errorf("media: the secret of links has %d bytes, fewer than %d", len(secret), MinLinkSecret)
	}
	if now == nil {
		now = time.Now
	}
	return &Links{
		blobs: blobs, secret: secret, now: now, fail: fail,
		check: func(context.Context, string) error { return nil },
	}, nil
}

// Check makes the links ask, whenever one is followed, whether the file under
// its key may still be handed out; an error is answered in place of the file.
// Check is called before the links are served.
func (l *Links) Check(check func(ctx context.Context, key string) error) { l.check = check }

// URL makes the link to the file under a key, which the client is to save under
// the name. base is the address of this program as the client sees it, without
// a slash at its end. The link works for the lifetime, and less than a second longer.
func (l *Links) URL(base, key, fileName string, lifetime time.Duration) string {
	query := linkQuery(l.now().Add(lifetime).Unix(), fileName)
	return base + LinkPath + key + "?" + query + signatureParam + l.sign(key, query)
}

const signatureParam = "&signature="

// linkQuery spells the part of the query that is signed. There is one spelling
// for what it says, so that no character can be changed without effect.
func linkQuery(expires int64, fileName string) string {
	escaped := strings.ReplaceAll(url.QueryEscape(fileName), "+", "%20")
	return "expires=" + strconv.FormatInt(expires, 10) + "&name=" + escaped
}

func (l *Links) sign(key, query string) string {
	mac := hmac.New(sha256.New, l.secret)
	// A key has no line break, so the two can't run into each other.
	mac.Write([]byte(key + "\n" + query))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// link is what a request asks for.
type link struct {
	key, fileName string
}

// verify reads a request's link. Its error is Forbidden.
func (l *Links) verify(request *http.Request) (link, error) {
	key, below := strings.CutPrefix(request.URL.EscapedPath(), LinkPath)
	signed, signature, found := strings.Cut(request.URL.RawQuery, signatureParam)
	// Compared as text: two texts may stand for the same bytes.
	genuine := subtle.ConstantTimeCompare([]byte(signature), []byte(l.sign(key, signed))) == 1
	if !below || !found || !genuine || !validKey(key) {
		return link{}, forbidden("the link is not valid")
	}
	query, err := url.ParseQuery(signed)
	if err != nil {
		return link{}, forbidden("the link is not valid")
	}
	expires, err := strconv.ParseInt(query.Get("expires"), 10, 64)
	if err != nil || l.now().Unix() > expires {
		return link{}, forbidden("the link has expired")
	}
	return link{key: key, fileName: query.Get("name")}, nil
}

func forbidden(message string) error {
	return gateway.Errorf(gateway.Forbidden, gateway.CodeForbidden, "%s", message)
}

// ServeHTTP serves the file of a link: GET and HEAD, whole or in ranges.
func (l *Links) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		l.fail(w, r, gateway.Errorf(gateway.MethodNotAllowed, gateway.CodeMethodNotAllowed, "the method is not allowed here"))
		return
	}
	wanted, err := l.verify(r)
	if err != nil {
		l.fail(w, r, err)
		return
	}
	if err := l.check(r.Context(), wanted.key); err != nil {
		l.fail(w, r, err)
		return
	}
	file, err := l.blobs.Get(r.Context(), wanted.key)
	if err != nil {
		l.fail(w, r, err)
		return
	}
	defer func() {
		// It was read, or the client has gone: there is nobody to tell.
		_ = file.Close()
	}()
	header := w.Header()
	header.Set("Content-Type", file.MimeType)
	header.Set("Content-Disposition", contentDisposition(wanted.fileName))
	header.Set("Cache-Control", "private")
	// Strangers wrote these files, and the dashboard is on the same host.
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	guarded := &rangeGuard{ResponseWriter: w}
	http.ServeContent(guarded, r, "", file.Created, file)
	if guarded.refused {
		header.Del("Content-Disposition") // the answer is not the file
		l.fail(w, r, gateway.Errorf(gateway.OutOfRange, gateway.CodeOutOfRange,
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
