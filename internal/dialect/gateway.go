// Package dialect is what the languages of other tools have in common. Each dialect, in a room inside this one,
// translates their requests into requests to this gateway's API, and the API's events into what they read. It
// keeps no truth of its own and knows no use case: every right, limit and rule is that of the API.
package dialect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
)

// Gateway is the API of this gateway, called without a network. It is safe for concurrent use.
type Gateway struct {
	api   http.Handler
	spoke Spoke
}

// Spoke is told that a program with an API key has spoken a dialect, and which operation was refused to it; that of no name is
// none. The key may be none.
type Spoke func(ctx context.Context, key, dialect string, refused gateway.RefusedOperation)

// NewGateway makes the gateway that an API answers for.
func NewGateway(api http.Handler, spoke Spoke) *Gateway { return &Gateway{api: api, spoke: spoke} }

// Answered tells that a request in a dialect was answered with a status. operation names it for people, and reason is what was said where
// the gateway can't do it (501); only then they are kept. Who has no valid key (401) is nobody.
func (g *Gateway) Answered(r *http.Request, name, key string, status int, operation, reason string) {
	if status == http.StatusUnauthorized {
		return
	}
	var refused gateway.RefusedOperation
	if status == http.StatusNotImplemented {
		refused = gateway.RefusedOperation{Operation: operation, Reason: reason}
	}
	g.spoke(context.WithoutCancel(r.Context()), key, name, refused)
}

// baseURL is the address of calls whose answers have no link.
const baseURL = "http://gateway"

// As returns a client with an API key, on behalf of a request: links in answers, limits by address and
// traces are those that the request itself would get, and what is sent is answered with the whole message. name is
// the dialect, for the log.
func (g *Gateway) As(r *http.Request, name, key string) *client.Client {
	within := &http.Client{
		Transport:     transport{api: g.api, outer: r},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return client.New(baseURL, key, client.WithHTTPClient(within), client.WithUserAgent(name+" "+r.UserAgent()))
}

// Fetch gets the file behind a link of an answer, on behalf of a request. Its caller closes the body, which
// breaks off with an error if the file does.
func (g *Gateway) Fetch(r *http.Request, link string) (*http.Response, error) {
	inner, err := http.NewRequestWithContext(r.Context(), http.MethodGet, link, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("dialect: fetch a file: %w", err)
	}
	return transport{api: g.api, outer: r, streams: true}.RoundTrip(inner)
}

// transport answers requests by a handler.
type transport struct {
	api     http.Handler
	outer   *http.Request
	streams bool // the answer is read while it is written: it may be large
}

// RoundTrip answers a request.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	inner := r.Clone(ctx)
	inner.Host, inner.RemoteAddr, inner.TLS = t.outer.Host, t.outer.RemoteAddr, t.outer.TLS
	inner.RequestURI = r.URL.RequestURI()
	for _, name := range []string{"X-Forwarded-Proto", "X-Forwarded-For", "Forwarded", "Traceparent", "Tracestate"} {
		if values := t.outer.Header.Values(name); len(values) > 0 {
			inner.Header[name] = values
		}
	}
	if inner.Header.Get("Prefer") == "" {
		inner.Header.Set("Prefer", client.ReturnRepresentation)
	}
	if inner.Body == nil {
		inner.Body = http.NoBody
	}
	if t.streams {
		return stream(t.api, inner, cancel)
	}
	defer cancel()
	return whole(t.api, inner)
}

// whole has a handler answer a request, and returns the answer when it is written.
func whole(handler http.Handler, r *http.Request) (response *http.Response, err error) {
	body := &bytes.Buffer{}
	answer := &answer{header: http.Header{}, body: body, begun: make(chan *http.Response, 1)}
	defer func() {
		if recover() != nil { // it was logged where it happened
			response, err = nil, errBroken
		}
	}()
	handler.ServeHTTP(answer, r)
	answer.WriteHeader(http.StatusOK)
	response = <-answer.begun
	response.Request, response.Body, response.ContentLength = r, io.NopCloser(body), int64(body.Len())
	return response, nil
}

// stream has a handler answer a request, and returns with the header of the answer. The handler ends early if
// the body of the answer is closed. end ends what the handler does in its name.
func stream(handler http.Handler, r *http.Request, end context.CancelFunc) (*http.Response, error) {
	body, written := io.Pipe()
	answer := &answer{header: http.Header{}, body: written, begun: make(chan *http.Response, 1)}
	go func() {
		defer end()
		defer func() {
			if recover() == nil {
				answer.WriteHeader(http.StatusOK)
				_ = written.Close() // always nil
				return
			}
			if !answer.wrote {
				answer.begun <- nil
			}
			_ = written.CloseWithError(errBroken) // always nil
		}()
		handler.ServeHTTP(answer, r)
	}()
	response := <-answer.begun
	if response == nil {
		return nil, errBroken
	}
	response.Request, response.Body = r, body
	return response, nil
}

// answer is written by a handler and read by whoever waits for the response.
type answer struct {
	header http.Header
	body   io.Writer
	begun  chan *http.Response // gets the response once, without its body; nil: there is none
	wrote  bool
}

// Header is that of the answer.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader begins the answer.
func (a *answer) WriteHeader(status int) {
	if a.wrote || status < http.StatusOK {
		return
	}
	a.wrote = true
	a.begun <- &http.Response{
		Status: fmt.Sprint(status, " ", http.StatusText(status)), StatusCode: status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: maps.Clone(a.header), ContentLength: -1,
	}
}

// Write begins the answer if nothing has. Where the answer is read while it is written, it waits until that was read.
func (a *answer) Write(part []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(part)
}

// Flush does nothing: nothing is held back.
func (a *answer) Flush() {}

// errBroken is the error of reading an answer whose handler gave up.
var errBroken = errors.New("the answer broke off")
