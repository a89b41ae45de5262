// Media that a client names by URL.

package media

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/outbound"
)

const (
	maxRedirects       = 5
	maxResponseHeaders = 64 << 10
	maxIdleConnections = 32
	idleTimeout        = 30 * time.Second
)

// redirectError is why a redirect is not followed; its text is for the client.
type redirectError string

// Error says why.
func (e redirectError) Error() string { return string(e) }

// fetcher fetches the URLs that clients give, from allowed addresses only.
type fetcher struct {
	client  *http.Client
	timeout time.Duration
}

// newFetcher makes a fetcher that connects only to addresses that guard allows.
func newFetcher(config Config, guard *outbound.Guard) *fetcher {
	dialer := &net.Dialer{Timeout: config.ConnectTimeout, Resolver: config.Resolver, Control: guard.Control}
	return &fetcher{
		timeout: config.FetchTimeout,
		client: &http.Client{
			CheckRedirect: checkRedirect,
			Transport: &http.Transport{
				// A proxy would connect in our place, past the guard.
				Proxy:               nil,
				DialContext:         dialer.DialContext,
				TLSHandshakeTimeout: config.ConnectTimeout,
				// No compression is asked for, and plainBody undoes one that comes.
				DisableCompression:     true,
				MaxResponseHeaderBytes: maxResponseHeaders,
				MaxIdleConns:           maxIdleConnections,
				MaxIdleConnsPerHost:    2,
				IdleConnTimeout:        idleTimeout,
			},
		},
	}
}

func isWeb(address *url.URL) bool {
	return address.Scheme == "http" || address.Scheme == "https"
}

func checkRedirect(request *http.Request, via []*http.Request) error {
	switch {
	case len(via) > maxRedirects:
		return redirectError("it redirects too often")
	case !isWeb(request.URL), request.URL.User != nil:
		return redirectError("it redirects to where fetching is not allowed")
	}
	// The URL before may contain a token, which the next host must not see.
	request.Header.Del("Referer")
	gateway.EscapeURL(request.URL)
	return nil
}

// urlSource requests a URL and reads the headers of the response.
func (s *Service) urlSource(ctx context.Context, address *url.URL, field string) (*source, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.fetcher.timeout, errTooSlow)
	explain := func(err error) error { return fetchFailure(ctx, err) }
	response, err := s.fetcher.get(ctx, address)
	if err != nil {
		defer cancel()
		return nil, explain(err)
	}
	closeAll := func() {
		// The body was read or given up, so an error of Close does not matter.
		_ = response.Body.Close()
		cancel()
	}
	switch {
	case response.StatusCode < 200 || response.StatusCode > 299:
		closeAll()
		return nil, fetchFailed(fmt.Sprintf("it answered the status %d", response.StatusCode))
	case response.ContentLength > s.maxBytes:
		closeAll()
		return nil, s.tooLarge()
	}
	body, err := plainBody(response, s.maxBytes)
	if err != nil {
		defer closeAll() // after the explanation: from then on the fetch counts as given up
		return nil, explain(err)
	}
	return &source{
		body:     body,
		declared: response.Header.Get("Content-Type"),
		name:     firstName(dispositionName(response.Header), lastPart(address)),
		from:     response.Request.URL,
		field:    field,
		explain:  explain,
		close:    closeAll,
	}, nil
}

func (f *fetcher) get(ctx context.Context, address *url.URL) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("media: make request: %w", err)
	}
	request.Header.Set("User-Agent", "recado")
	request.Header.Set("Accept", "*/*")
	response, err := f.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("media: fetch: %w", err)
	}
	return response, nil
}

// errTooSlow is the cause of a context whose time for a fetch is over.
var errTooSlow = errors.New("media: the fetch took too long")

// fetchFailure explains to the client why a fetch failed. The text contains no
// address: the client must not learn from it where a name leads.
func fetchFailure(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, errTooSlow) {
		return fmt.Errorf("media: fetch: %w", cause)
	}
	if errors.Is(context.Cause(ctx), errTooSlow) {
		return fetchFailed("it took too long")
	}
	if redirect, ok := errors.AsType[redirectError](err); ok {
		return fetchFailed(redirect.Error())
	}
	if encoding, ok := errors.AsType[encodingError](err); ok {
		return fetchFailed(encoding.Error())
	}
	if errors.Is(err, outbound.ErrForbidden) {
		return fetchFailed("it points where fetching is not allowed")
	}
	if why := outbound.Explain(err); why != "" {
		return fetchFailed(why)
	}
	return fetchFailed("its host did not answer with a complete file")
}

func fetchFailed(why string) error {
	return gateway.Errorf(gateway.Invalid, gateway.CodeMediaFetchFailed, "the media URL can't be fetched: %s", why)
}

// lastPart returns the last part of a URL's path, decoded; empty if the path ends
// with a slash.
func lastPart(address *url.URL) string {
	escaped := address.EscapedPath()
	part, err := url.PathUnescape(escaped[strings.LastIndexByte(escaped, '/')+1:])
	if err != nil {
		return ""
	}
	return part
}

// dispositionName returns the file name in a Content-Disposition header, also in one that is not
// written as it has to be: without quotes around blanks, or with letters that headers can't have.
func dispositionName(header http.Header) string {
	value := header.Get("Content-Disposition")
	if !utf8.ValidString(value) {
		if plain, err := charmap.Windows1252.NewDecoder().String(value); err == nil {
			value = plain
		}
	}
	if _, params, err := mime.ParseMediaType(value); err == nil {
		return plainWords(params["filename"])
	}
	for part := range strings.SplitSeq(value, ";") {
		if key, name, found := strings.Cut(part, "="); found && strings.EqualFold(strings.TrimSpace(key), "filename") {
			return plainWords(strings.Trim(strings.TrimSpace(name), `"`))
		}
	}
	return ""
}

// plainWords decodes a text that is written as headers of mails have it (RFC 2047), which browsers read, too.
func plainWords(text string) string {
	if plain, err := new(mime.WordDecoder).DecodeHeader(text); err == nil {
		return plain
	}
	return text
}

// plainBody undoes the compression of a response, which nobody has asked for: the phone would get
// the compressed bytes. A file that is compressed itself stays so. Of what is compressed no more than
// maxBytes are read: it may be endless, and hold nothing.
func plainBody(response *http.Response, maxBytes int64) (io.Reader, error) {
	declared, _ := declaredType(response.Header.Get("Content-Type"))
	encoding := strings.ToLower(strings.TrimSpace(response.Header.Get("Content-Encoding")))
	var undone io.Reader
	var err error
	switch packed := bufio.NewReader(io.LimitReader(response.Body, maxBytes)); encoding {
	case "", "identity":
		return response.Body, nil
	case "gzip", "x-gzip":
		if declared == "application/gzip" || declared == "application/x-gzip" {
			return response.Body, nil
		}
		undone, err = gzip.NewReader(packed)
	case "deflate":
		// Some servers leave out the header that belongs to it (RFC 9110, section 8.4.1.2).
		if begin, _ := packed.Peek(2); len(begin) < 2 || begin[0]&0x0f != 8 || (int(begin[0])<<8|int(begin[1]))%31 != 0 {
			return flate.NewReader(packed), nil
		}
		undone, err = zlib.NewReader(packed)
	default:
		return nil, encodingError(encoding)
	}
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, zlib.ErrHeader) {
		return nil, encodingError(encoding)
	}
	return undone, err
}

// encodingError is a compression that can't be undone.
type encodingError string

// Error says which.
func (e encodingError) Error() string {
	return "its server sends it compressed as " + strconv.Quote(gateway.CleanName(string(e))) + ", though nobody has asked for that, and it can't be undone; gzip and deflate can"
}
