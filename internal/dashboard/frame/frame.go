// Package frame is what all pages of the dashboard have around them: the layout with
// its links, the check of the visitor's role, the record of what was done, and the
// answer where something went wrong. It knows no page.
package frame

import (
	"context"
	"embed"
	"log/slog"
	"net/http"
	"time"

	"github.com/recado-project/recado/internal/body"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/required"
	"github.com/recado-project/recado/internal/share"
	"github.com/recado-project/recado/internal/user"
	"github.com/recado-project/recado/internal/web"
)

// Files are the layout with its translations.
//
//go:embed *.html locale
var Files embed.FS

// maxForm bounds the body of a form without files.
const maxForm = 1 << 20

// Entry is what the audit list says of one action.
type Entry struct {
	Action  user.Action // empty: nothing is recorded
	Subject string      // what it was done to: a name or an id
	Detail  string      // what else matters; never a secret
}

// Config is what the pages stand on. The first part is required.
type Config struct {
	Site   *web.Site
	Logger *slog.Logger
	Users  Audit

	Sandbox bool // the layout links to the phones
	// Shares are what the pages share with the API; the zero value shares nothing.
	Shares Shares

	Now func() time.Time // nil: the wall clock
}

// Shares are what all requests share: those of browsers stand under the same bounds as those of the API.
type Shares struct {
	Requests *share.Pool  // places of requests in progress; nil: any number
	Streams  *share.Pool  // places of live pages; nil: any number
	Bodies   *body.Reader // of forms with files; nil: one with the usual bounds
}

// Audit keeps what visitors did.
type Audit interface {
	Record(ctx context.Context, actor user.Actor, action user.Action, subject, detail string)
}

// Pages serves routes within the layout. It is safe for concurrent use.
type Pages struct {
	config  Config
	mux     *http.ServeMux
	repeats repeats
}

// Route is one line of a table of routes.
type Route struct {
	Method string
	Path   string       // a pattern of net/http
	Role   gateway.Role // the least one that may use it; empty: everybody, signed in or not
	Action user.Action  // what the audit list calls it; empty for what only reads
	// MaxBody bounds the body of a request in bytes; 0 means that of a form without
	// files.
	MaxBody int64
	Live    bool // it answers with a stream, until the browser leaves
	Handle  func(r *Request) error
}

// New makes the pages of a table of routes.
func New(config Config, routes ...Route) (*Pages, error) {
	if err := required.Check("frame", config, "Now"); err != nil {
		return nil, err
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	if config.Shares.Bodies == nil {
		config.Shares.Bodies = body.NewReader(body.Config{})
	}
	p := &Pages{config: config, mux: http.NewServeMux(), repeats: repeats{now: config.Now, answers: map[string]*answer{}}}
	for _, route := range routes {
		p.mux.HandleFunc(route.Method+" "+route.Path, func(w http.ResponseWriter, r *http.Request) {
			p.serve(route, w, r)
		})
	}
	return p, nil
}

// ServeHTTP answers a request whose context has a visitor.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	handler, pattern := p.mux.Handler(r)
	if pattern == "" {
		visitor, _ := VisitorOf(r.Context())
		p.fail(r.Context(), &Request{Request: r, W: w, Visitor: visitor, pages: p}, unmatched(handler, r))
		return
	}
	p.mux.ServeHTTP(w, r)
}

// unmatched says why no route fits: the path has other methods, or there is no such page.
func unmatched(handler http.Handler, r *http.Request) error {
	answer := &statusOnly{header: http.Header{}}
	handler.ServeHTTP(answer, r)
	if answer.status == http.StatusMethodNotAllowed {
		return gateway.Errorf(gateway.MethodNotAllowed, gateway.CodeMethodNotAllowed, "this page does not take %s", r.Method)
	}
	return gateway.Errorf(gateway.NotFound, gateway.CodeNotFound, "there is no such page")
}

// statusOnly is an answer of which only the status is of interest.
type statusOnly struct {
	header http.Header
	status int
}

func (s *statusOnly) Header() http.Header               { return s.header }
func (s *statusOnly) Write(content []byte) (int, error) { return len(content), nil }
func (s *statusOnly) WriteHeader(status int)            { s.status = status }

func (p *Pages) serve(route Route, w http.ResponseWriter, r *http.Request) {
	visitor, _ := VisitorOf(r.Context())
	// Strangers share what one account may have.
	ctx := gateway.WithRequester(r.Context(), gateway.Requester{AccountID: visitor.Actor.AccountID, ID: visitor.Actor.UserID, Kind: "this user"})
	r = r.WithContext(ctx)
	request := &Request{Request: r, W: w, Visitor: visitor, Entry: Entry{Action: route.Action}, pages: p}
	if route.Role != "" {
		if err := visitor.Actor.Need(route.Role); err != nil {
			p.fail(ctx, request, err)
			return
		}
	}
	pool := p.config.Shares.Requests
	if route.Live {
		pool = p.config.Shares.Streams
	}
	if pool != nil {
		place, err := pool.Take(ctx, 1)
		if err != nil {
			p.fail(ctx, request, err)
			return
		}
		defer place.Release()
	}
	limit := route.MaxBody
	if limit == 0 {
		limit = maxForm
	}
	r.Body = http.MaxBytesReader(w, r.Body, limit)
	handle := func(w http.ResponseWriter) {
		request.W = w
		if err := route.Handle(request); err != nil {
			p.fail(ctx, request, err)
		}
	}
	if route.Method != http.MethodPost || route.MaxBody > 0 { // who takes files asks for Once itself
		handle(w)
		return
	}
	once, err := request.Once()
	switch {
	case err != nil:
		p.fail(ctx, request, err)
	case once == "":
		handle(w)
	default:
		// A browser that sends it again gets the answer, so the work goes on when the first has left.
		request.Request = r.WithContext(context.WithoutCancel(ctx))
		p.repeats.serve(ctx, w, visitor.Actor.UserID+" "+once, handle)
	}
}

// record keeps what was done, once.
func (p *Pages) record(r *Request) {
	if r.Entry.Action != "" {
		p.config.Users.Record(r.Context(), r.Visitor.Actor, r.Entry.Action, r.Entry.Subject, r.Entry.Detail)
	}
	r.Entry = Entry{}
}
