// Headers that a webhook's owner adds to its requests.

package webhook

import (
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/recado-project/recado/internal/gateway"
)

const (
	maxHeaders     = 20
	maxHeaderName  = 64
	maxHeaderValue = 1_024
)

// Header is a header of a webhook's own, in its canonical form. Its value may be a secret: it
// is never logged, and no answer has it.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// LogValue hides the value.
func (h Header) LogValue() slog.Value { return slog.StringValue(h.Name + ": ***") }

// reserved are the headers that a request has already, that concern only one connection, or
// that change how the answer is read.
//
//nolint:gochecknoglobals // a table
var reserved = []string{
	"Accept-Encoding", "Connection", "Expect", "Host", "Idempotency-Key", "Keep-Alive", "Range", "Te", "Trailer",
	"Traceparent", "Tracestate", "Transfer-Encoding", "Upgrade", "User-Agent",
}

// isReserved reports whether a header, in its canonical form, can't be a webhook's own.
func isReserved(name string) bool {
	return slices.Contains(reserved, name) || strings.HasPrefix(name, "Content-") || strings.HasPrefix(name, "Webhook-") ||
		strings.HasPrefix(name, "Proxy-")
}

// NewHeaders makes headers of what a client gave, by their names. It returns a
// gateway.Invalid that names the field headers if they can't be used.
func NewHeaders(given map[string]string) ([]Header, error) {
	refuse := func(message string) ([]Header, error) {
		return nil, gateway.InvalidField("headers", message)
	}
	if len(given) > maxHeaders {
		return refuse("must have 20 headers or less")
	}
	headers := make([]Header, 0, len(given))
	for name, value := range given {
		canonical := http.CanonicalHeaderKey(name)
		switch {
		case len(name) > maxHeaderName || !httpguts.ValidHeaderFieldName(name):
			return refuse("must have names that HTTP allows, of up to 64 characters")
		case isReserved(canonical):
			return refuse(canonical + " is set by the gateway")
		case len(value) > maxHeaderValue || !isHeaderValue(value):
			return refuse("must have values of up to 1024 characters of ASCII, without line breaks and without blanks at the ends")
		}
		headers = append(headers, Header{Name: canonical, Value: value})
	}
	slices.SortFunc(headers, func(a, b Header) int { return strings.Compare(a.Name, b.Name) })
	for n := 1; n < len(headers); n++ {
		if headers[n].Name == headers[n-1].Name {
			return refuse("must not have " + headers[n].Name + " twice")
		}
	}
	return headers, nil
}

// isHeaderValue reports whether every receiver reads a value as it was given.
func isHeaderValue(value string) bool {
	for _, c := range []byte(value) {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return strings.TrimSpace(value) == value
}
