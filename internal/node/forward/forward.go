// Package forward lets any node take any request: it passes on to the owner of an instance what only the
// owner can answer, with bodies, files, streams, status codes, and the client's cancellation. A request
// takes one hop at most.
package forward

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/recado-project/recado/internal/cache"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/required"
)

const (
	// maxOwners and ownerTTL bound the cache of owners. A node that no longer works for an instance
	// says so, so the age of an entry matters little.
	maxOwners = 20_000
	ownerTTL  = time.Second
	maxNodes  = 1_000
	// checkInterval is how often the node that answers a forwarded request is checked: one that
	// hangs never answers.
	checkInterval = 2 * time.Second
	// ownerCheckEvery: the owner is looked up at every fifth check. An old owner ends the requests
	// that it answers; if it can't, it fails the other checks.
	ownerCheckEvery = 5
	// maxFailedChecks is how many checks in a row may fail before the request is given up.
	maxFailedChecks = 2
	// dialTimeout bounds the connection to another node, and idleConns how many stay open.
	dialTimeout = 2 * time.Second
	idleConns   = 64
	// ioTimeout bounds one read from a client or one write to it.
	ioTimeout = 30 * time.Second
)

// Node is this process among the others.
type Node interface {
	ID() string
	// Enter begins a request for an instance that this node works for, under its tenure: see node.Node.
	Enter(ctx context.Context, instanceID string) (under context.Context, left Left, ok bool)
}

// Left says how a request that was let in ends.
type Left struct {
	Done func() // called when it is answered, or when nobody has to wait for it
	// Leaving is closed when the instance is handed over: streams end. Gone is closed when
	// every other request has to end too.
	Leaving, Gone <-chan struct{}
}

// Owners finds who works for an instance; found is false if there is no such instance.
type Owners interface {
	FindOwner(ctx context.Context, instanceID string) (owner gateway.Owner, found bool, err error)
}

// Config is what a forwarder stands on. All of it is required.
type Config struct {
	Node   Node
	Owners Owners // nil: this process has the database to itself
	Secret string // that the nodes share
	// OtherSecret is recognised as well, while the secret is changed; empty: there is none.
	OtherSecret string
	Next        http.Handler
	// Refuse answers a request with an error.
	Refuse   func(w http.ResponseWriter, r *http.Request, err *gateway.Error)
	Stopping <-chan struct{} // closed when streams have to end
	Logger   *slog.Logger
}

// Forwarder is a handler that answers what this node may answer, and passes the rest on. It is
// safe for concurrent use.
type Forwarder struct {
	config    Config
	transport *http.Transport
	owners    *cache.Cache[string, gateway.Owner]
	answers   *cache.Cache[string, bool] // whether a node answers, by its address
	proxy     *httputil.ReverseProxy
}

// New makes a forwarder.
func New(config Config) (*Forwarder, error) {
	if err := required.Check("forward", config, "Owners"); err != nil {
		return nil, err
	}
	f := &Forwarder{
		config: config, owners: cache.New[string, gateway.Owner](cache.Config{Most: maxOwners, Age: ownerTTL, Now: time.Now}),
		answers: cache.New[string, bool](cache.Config{Most: maxNodes, Age: checkInterval / 2, Now: time.Now}),
		transport: &http.Transport{
			DialContext:         (&net.Dialer{Timeout: dialTimeout}).DialContext,
			MaxIdleConnsPerHost: idleConns, IdleConnTimeout: time.Minute,
			// An owner that has lost the instance says so before it has read the body, which
			// can then be passed on to the next one.
			ExpectContinueTimeout: dialTimeout,
			DisableCompression:    true,
		},
	}
	f.proxy = &httputil.ReverseProxy{
		Rewrite: f.rewrite, Transport: f.transport, ModifyResponse: f.answered, ErrorHandler: f.failed,
		ErrorLog: slog.NewLogLogger(config.Logger.Handler(), slog.LevelDebug),
	}
	return f, nil
}

// Close closes the connections to the other nodes.
func (f *Forwarder) Close() error {
	f.transport.CloseIdleConnections()
	return nil
}

// ServeHTTP answers a request or passes it on.
func (f *Forwarder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	instanceID := instanceOf(r.URL.Path)
	ticket, forwarded := f.admit(r)
	if instanceID == "" {
		f.config.Next.ServeHTTP(w, r)
		return
	}
	under, left, ok := f.config.Node.Enter(r.Context(), instanceID)
	switch {
	case ok && forwarded && gateway.TenureOf(under).Epoch != ticket.epoch:
		left.Done()
		w.WriteHeader(http.StatusMisdirectedRequest)
	case ok:
		f.serve(w, r.WithContext(under), left)
	case forwarded:
		w.WriteHeader(http.StatusMisdirectedRequest)
	case f.config.Owners == nil || anywhere(r):
		f.config.Next.ServeHTTP(w, r)
	default:
		f.pass(w, r, instanceID)
	}
}

// serve answers a request for an instance that this node works for.
func (f *Forwarder) serve(w http.ResponseWriter, r *http.Request, left Left) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	end, done := left.Gone, sync.OnceFunc(left.Done)
	defer done()
	if isStream(r) {
		end = left.Leaving
		done()
	}
	answered := make(chan struct{})
	defer close(answered)
	if end != nil {
		go func() {
			select {
			case <-end:
				cancel(gateway.ErrTenureOver)
			case <-answered:
			}
		}()
	}
	f.config.Next.ServeHTTP(w, r.WithContext(ctx))
}

// hop is one attempt to forward a request.
type hop struct {
	owner gateway.Owner
	to    *url.URL
	again error // why the request can be passed on once more; nil if it can't, or was answered
	end   context.CancelFunc
}

type hopKey struct{}

// errMisdirected is the answer of a node that no longer works for the instance.
var errMisdirected = errors.New("forward: the node does not work for the instance")

// pass passes a request on to the owner of its instance.
func (f *Forwarder) pass(w http.ResponseWriter, r *http.Request, instanceID string) {
	body, err := bodyOf(w, r)
	if err != nil {
		f.refuse(w, r) // the client has gone, or takes too long
		return
	}
	for try := range 2 {
		owner, found, err := f.owner(r.Context(), instanceID, try > 0)
		switch {
		case err != nil:
			f.config.Logger.WarnContext(r.Context(), "the owner of an instance is not known", slog.String("instance_id", instanceID), slog.Any("error", err))
			f.refuse(w, r)
			return
		case !found:
			f.config.Next.ServeHTTP(w, r) // which knows what to say
			return
		}
		to, err := url.Parse(owner.Address)
		if err != nil || owner.Address == "" || owner.Lease <= 0 || owner.Tenure.Node == f.config.Node.ID() {
			f.refuse(w, r) // nobody works for it at the moment
			return
		}
		h := &hop{owner: owner, to: to}
		spent := f.try(w, r, h, body)
		if h.again == nil {
			return
		}
		if spent {
			break
		}
	}
	f.refuse(w, r)
}

// try passes a request on once, and reports whether its body is spent.
func (f *Forwarder) try(w http.ResponseWriter, r *http.Request, h *hop, sent *body) (spent bool) {
	ctx, cancel := context.WithCancel(context.WithValue(r.Context(), hopKey{}, h))
	defer cancel()
	h.end = cancel
	go f.watch(ctx, h)
	out := r.Clone(ctx)
	part := &attempt{body: sent}
	switch {
	case sent.whole != nil:
		out.Body = io.NopCloser(bytes.NewReader(sent.whole))
	case r.ContentLength != 0:
		out.Body = part
	}
	f.proxy.ServeHTTP(&patient{ResponseWriter: w, control: sent.control}, out)
	return part.spent()
}

// watch ends a forwarded request when another node works for its instance, or when its node no longer
// answers.
func (f *Forwarder) watch(ctx context.Context, h *hop) {
	ticks := time.NewTicker(checkInterval)
	defer ticks.Stop()
	failed := 0
	for count := 1; ; count++ {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		failed++
		if f.answersNow(ctx, h.to) {
			failed = 0
		}
		if failed == maxFailedChecks {
			h.end()
			return
		}
		if count%ownerCheckEvery != 0 {
			continue
		}
		owner, found, err := f.owner(ctx, h.owner.Tenure.InstanceID, false)
		if err == nil && (!found || owner.Tenure != h.owner.Tenure || owner.Lease <= 0) {
			h.end()
			return
		}
	}
}

// answersNow reports whether a node answers, or answered a moment ago. It asks on a new connection: an
// old one that was cut silently looks open.
func (f *Forwarder) answersNow(ctx context.Context, node *url.URL) bool {
	answers, _, err := f.answers.Find(node.Host, func() (bool, bool, error) {
		ctx, cancel := context.WithTimeout(ctx, checkInterval)
		defer cancel()
		ask, err := http.NewRequestWithContext(ctx, http.MethodGet, node.JoinPath("healthz").String(), http.NoBody)
		if err != nil {
			return false, true, err
		}
		ask.Close = true
		answer, err := f.transport.RoundTrip(ask)
		if err != nil {
			return false, ctx.Err() == nil, nil
		}
		return true, true, answer.Body.Close()
	})
	return answers && err == nil
}

func (f *Forwarder) owner(ctx context.Context, instanceID string, anew bool) (gateway.Owner, bool, error) {
	if anew {
		f.owners.Change(instanceID)()
	}
	owner, found, err := f.owners.Find(instanceID, func() (gateway.Owner, bool, error) {
		return f.config.Owners.FindOwner(ctx, instanceID)
	})
	if err != nil {
		return owner, false, fmt.Errorf("forward: %w", err)
	}
	return owner, found, nil
}

// rewrite makes the request to the owner.
func (f *Forwarder) rewrite(p *httputil.ProxyRequest) {
	h := p.In.Context().Value(hopKey{}).(*hop)
	p.Out.URL.Scheme, p.Out.URL.Host = h.to.Scheme, h.to.Host
	p.Out.Host = p.In.Host
	for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "Forwarded"} {
		if values := p.In.Header.Values(name); len(values) > 0 {
			p.Out.Header[name] = values // what a proxy in front has said stays as it is
		}
	}
	if p.Out.ContentLength < 0 || p.Out.ContentLength > maxBuffered {
		p.Out.Header.Set("Expect", "100-continue")
	}
	f.sign(p.Out, p.In, h.owner.Tenure)
}

// answered looks at the answer of the owner before the client gets it.
func (f *Forwarder) answered(answer *http.Response) error {
	if answer.StatusCode == http.StatusMisdirectedRequest {
		return errMisdirected
	}
	h := answer.Request.Context().Value(hopKey{}).(*hop)
	if strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") {
		ctx := answer.Request.Context()
		go func() {
			select {
			case <-f.config.Stopping:
				h.end()
			case <-ctx.Done():
			}
		}()
	}
	return nil
}

// failed notes that the owner has not answered, or does not work for the instance.
func (f *Forwarder) failed(w http.ResponseWriter, r *http.Request, err error) {
	h := r.Context().Value(hopKey{}).(*hop)
	f.owners.Change(h.owner.Tenure.InstanceID)()
	if opening, ok := errors.AsType[*net.OpError](err); errors.Is(err, errMisdirected) || ok && opening.Op == "dial" {
		h.again = err
		return
	}
	f.config.Logger.DebugContext(r.Context(), "a request passed on to another node failed",
		slog.String("instance_id", h.owner.Tenure.InstanceID), slog.String("node", h.owner.Tenure.Node), slog.Any("error", err))
	if !isRepeatable(r) {
		f.config.Refuse(w, r, gateway.Errorf(gateway.PlatformTimeout, gateway.CodePlatformTimeout,
			"the node of the gateway that works for the instance has not answered: what was asked of it may have been done"))
		return
	}
	f.refuse(w, r)
}

func (f *Forwarder) refuse(w http.ResponseWriter, r *http.Request) {
	refusal, _ := gateway.AsError(gateway.ErrTenureOver)
	f.config.Refuse(w, r, refusal)
}

// maxBuffered is how many bytes of a body are read before it is passed on. A longer one is streamed, once
// the owner has said that it wants it.
const maxBuffered = 32 << 10

// body is what a client sends, for two attempts to pass it on.
type body struct {
	from    io.Reader
	control *http.ResponseController
	whole   []byte // of a short one
}

// attempt is the body in one attempt, which reads nothing after its end.
type attempt struct {
	*body

	mu           sync.Mutex
	used, closed bool
}

// bodyOf prepares the body of a request for two attempts to pass it on.
func bodyOf(w http.ResponseWriter, r *http.Request) (*body, error) {
	sent := &body{from: r.Body, control: http.NewResponseController(w)}
	if r.ContentLength <= 0 || r.ContentLength > maxBuffered {
		return sent, nil
	}
	whole := make([]byte, r.ContentLength)
	if _, err := io.ReadFull(&attempt{body: sent}, whole); err != nil {
		return nil, fmt.Errorf("forward: read the body: %w", err)
	}
	sent.whole = whole
	return sent, nil
}

// Read reads. A client has some time for each piece.
func (a *attempt) Read(p []byte) (int, error) {
	a.mu.Lock()
	closed := a.closed
	a.used = a.used || !closed
	a.mu.Unlock()
	if closed {
		return 0, http.ErrBodyReadAfterClose
	}
	_ = a.control.SetReadDeadline(deadline())
	return a.from.Read(p)
}

// Close ends the attempt. It leaves it to the server to close the body: there may be a second
// attempt.
func (a *attempt) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	return nil
}

// spent reports whether something of the body was read. It ends the attempt.
func (a *attempt) spent() bool {
	_ = a.Close()
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.used
}

// patient is an answer that may take long in all, but not in one piece.
type patient struct {
	http.ResponseWriter

	control *http.ResponseController
}

// Write writes a piece.
func (p *patient) Write(piece []byte) (int, error) {
	_ = p.control.SetWriteDeadline(deadline())
	return p.ResponseWriter.Write(piece)
}

// Unwrap gives http.ResponseController what is inside.
func (p *patient) Unwrap() http.ResponseWriter { return p.ResponseWriter }

func deadline() time.Time { return time.Now().Add(ioTimeout) } //nolint:forbidigo // a connection's
