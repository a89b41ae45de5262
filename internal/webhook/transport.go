// The HTTP client that posts events.

package webhook

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/outbound"
	"github.com/recado-project/recado/internal/trace"
	"github.com/recado-project/recado/internal/webhook/backlog"
)

const (
	// maxAnswer is how much of an answer's body is read. After a longer body the
	// connection is closed.
	maxAnswer          = 4 << 10
	maxResponseHeaders = 64 << 10

	maxIdleConns = 1_024
	// Many webhooks may share a host, each with several requests at a time.
	maxIdleConnsPerHost = 256
	idleTimeout         = 30 * time.Second
	// A silent HTTP/2 connection is pinged to see whether it is alive.
	pingAfter   = 10 * time.Second
	pingTimeout = 5 * time.Second
)

type clientConfig struct {
	schedule *Schedule
	guard    *outbound.Guard // nil allows every address
	resolver *net.Resolver
	version  string
	now      func() time.Time
}

// client posts events. One serves all webhooks.
type client struct {
	transport *http.Transport
	schedule  *Schedule
	userAgent string
	now       func() time.Time
	buffers   sync.Pool // of *[maxAnswer]byte
}

func newClient(config clientConfig) *client {
	dialer := &net.Dialer{
		Timeout: config.schedule.ConnectTimeout, Resolver: config.resolver, Control: config.guard.Control,
	}
	version := config.version
	if version == "" {
		version = "dev"
	}
	return &client{
		transport: &http.Transport{
			// A proxy would connect in our place, past the guard.
			Proxy:                  nil,
			DialContext:            dialer.DialContext,
			TLSHandshakeTimeout:    config.schedule.ConnectTimeout,
			ForceAttemptHTTP2:      true,
			HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
			DisableCompression:     true,
			MaxResponseHeaderBytes: maxResponseHeaders,
			MaxIdleConns:           maxIdleConns,
			MaxIdleConnsPerHost:    maxIdleConnsPerHost,
			IdleConnTimeout:        idleTimeout,
		},
		schedule:  config.schedule,
		userAgent: "Recado/" + version,
		now:       config.now,
		buffers:   sync.Pool{New: func() any { return new([maxAnswer]byte) }},
	}
}

func (c *client) close() { c.transport.CloseIdleConnections() }

// errTooSlow is the cause of a context whose time for a request is over.
var errTooSlow = errors.New("webhook: the endpoint took too long")

// post sends an event once. Redirects are not followed. slow, which may be nil,
// is called when the request becomes a slow one; that may be while post returns.
func (c *client) post(ctx context.Context, to *target, event eventlog.Event, slow func()) answer {
	if slow != nil {
		defer time.AfterFunc(c.schedule.SlowAfter, slow).Stop()
	}
	posting, ok, err := to.posting(ctx, event)
	defer posting.memory.Release()
	at := c.now()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(c.schedule.Timeout, func() { cancel(errTooSlow) }) // it is the endpoint's alone
	defer timer.Stop()
	if err != nil {
		return answer{Answer: backlog.Answer{Problem: "what an event is about can't be read now"}}
	} else if !ok {
		return answer{Answer: backlog.Answer{Unsaid: true, Problem: "the format of the webhook has no word for this event"}}
	}
	// Only the transport, because a client would follow redirects and keep cookies.
	response, err := c.transport.RoundTrip(c.request(ctx, to, event, at, posting)) //nolint:bodyclose // read closes it
	if err != nil {
		return answer{Answer: explain(ctx, err), duration: c.now().Sub(at)}
	}
	// The status decides; the body is only for people.
	timer.Reset(max(0, min(c.schedule.BodyTimeout, c.schedule.Timeout-c.now().Sub(at))))
	result := answer{Answer: backlog.Answer{Status: response.StatusCode}, body: c.read(response.Body)}
	if !result.Answer.Delivered() {
		result.Answer.Refused = to.format != nil && to.format.Refuses(response.StatusCode)
		result.Answer.Problem = "it answered the status " + strconv.Itoa(result.Answer.Status)
		result.Answer.RetryAfter = parseRetryAfter(response.Header.Get("Retry-After"), c.now(), c.schedule.MaxRetryAfter)
	}
	result.duration = c.now().Sub(at)
	return result
}

func (c *client) request(ctx context.Context, to *target, event eventlog.Event, at time.Time, p posting) *http.Request {
	body := p.body
	header := make(http.Header, len(to.headers)+7) //nolint:mnd // those below
	for _, own := range to.headers {
		header[own.Name] = []string{own.Value}
	}
	maps.Copy(header, http.Header{
		"Content-Type":      {"application/json"},
		"User-Agent":        {c.userAgent},
		"Webhook-Id":        {event.ID},
		"Webhook-Timestamp": {strconv.FormatInt(at.Unix(), 10)},
		// Without a value it is not sent. It lets the transport repeat a request
		// when the other side closes an idle connection just then.
		"Idempotency-Key": {},
	})
	if signature := to.signature(event.ID, at, body); signature != "" {
		header["Webhook-Signature"] = []string{signature}
	}
	if to.format != nil {
		to.format.SetHeaders(header, at, p.secret, body)
	}
	trace.Inject(ctx, header)
	address := to.url
	if p.path != "" {
		rooted := *address
		rooted.Path = cmp.Or(rooted.Path, "/") // JoinPath makes a relative path of none, which no server takes
		address = rooted.JoinPath(p.path)
	}
	request := &http.Request{
		Method: http.MethodPost, URL: address, Host: to.url.Host,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, ContentLength: int64(len(body)),
		Body:    io.NopCloser(bytes.NewReader(body)),
		GetBody: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil },
	}
	return request.WithContext(ctx)
}

// read returns the beginning of a body and closes it. If the body is longer, or does
// not arrive, the connection ends.
func (c *client) read(body io.ReadCloser) []byte {
	buffer, _ := c.buffers.Get().(*[maxAnswer]byte)
	defer c.buffers.Put(buffer)
	// An answer that breaks off has a status already.
	n, _ := io.ReadFull(body, buffer[:])
	_ = body.Close()
	return bytes.Clone(buffer[:n])
}

// explain says why there was no answer. The text names no address, because a client
// must not learn from us what is behind a name.
func explain(ctx context.Context, err error) backlog.Answer {
	if cause := context.Cause(ctx); errors.Is(cause, errTooSlow) {
		return backlog.Answer{TimedOut: true, Problem: "it did not answer in time"}
	} else if cause != nil {
		return backlog.Answer{Aborted: true, Problem: "the request was given up"}
	}
	if errors.Is(err, outbound.ErrForbidden) {
		return backlog.Answer{Unreachable: true, Problem: "it has an address that is not allowed"}
	}
	if why := outbound.Explain(err); why != "" {
		op, ok := errors.AsType[*net.OpError](err)
		return backlog.Answer{Unreachable: true, TimedOut: ok && op.Op == "dial" && op.Timeout(), Problem: why}
	}
	return backlog.Answer{Problem: "the connection ended without an answer"}
}
