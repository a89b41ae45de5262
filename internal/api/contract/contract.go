// Package contract is the machinery that all resources of the API share. A table of
// routes goes in; a handler comes out that checks, decodes, answers and logs every
// request as the contract says, and that serves the OpenAPI document made of the
// same table.
//
// The operations are declared with huma, which gives schemas, validation and the
// document. What the contract has and huma does not is here: its error body
// (error.go), its order of checks (gate.go) and its way to read JSON (json.go and
// the package body). The package api declares the resources; this package knows
// none of them.
package contract

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/body"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/required"
	"github.com/recado-project/recado/internal/share"
	"github.com/recado-project/recado/internal/trace"
)

// Config holds what an API is made of. Watcher, Tracer and Now are optional.
type Config struct {
	// Authenticate finds the API key that a secret opens. Its error is Unauthorized
	// for none.
	Authenticate func(ctx context.Context, secret string) (gateway.Key, error)
	// FindInstance finds an instance. Its error is NotFound for none.
	FindInstance func(ctx context.Context, id string) (gateway.Instance, error)
	Routes       []Route
	Logger       *slog.Logger

	About   string      // of the API, for the document; paragraphs
	Tags    []*huma.Tag // of the operations, in the order of the reference
	Version string      // of the program
	Origin  Origin      // where clients reach the API

	Bodies body.Config
	// Requests has the places of requests of clients that are in progress, without streams.
	Requests *share.Pool
	// PerKey and PerInstance are how many requests a minute a key may make, and how
	// many may be made about an instance; as many may come at once. 0: any number.
	// They are asked with every request, and may say another number each time.
	PerKey, PerInstance func() int

	// Watcher is told of every request; nil: nobody is.
	Watcher Watcher
	// Tracer begins a trace with every request; nil: there are none.
	Tracer *trace.Tracer

	Now func() time.Time // nil means the wall clock
}

// Watcher is told of requests. Its methods must not block, and are called by many
// goroutines at a time.
type Watcher interface {
	RequestBegan()
	// RequestEnded tells of the end of the answer. The route is the pattern of its path,
	// empty for an unknown one; the status is 0 where there was no answer.
	RequestEnded(route, method string, status int, took time.Duration)
	// RequestLimited tells of a request that was refused, because its "key" or its
	// "instance" had too many.
	RequestLimited(limit string)
}

// nobody watches.
type nobody struct{}

func (nobody) RequestBegan() {}

func (nobody) RequestEnded(string, string, int, time.Duration) {}

func (nobody) RequestLimited(string) {}

// API is the handler of all routes. It is safe for concurrent use.
type API struct {
	config       Config
	bodies       *body.Reader
	keyPace      *pace
	instancePace *pace
	router       *router
	handler      http.Handler
}

// New makes the API of the routes. Its document is made when somebody asks for it. It
// starts nothing.
func New(config Config) (*API, error) {
	if err := required.Check("contract", config, "Watcher", "Tracer", "Now"); err != nil {
		return nil, err
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	if config.Watcher == nil {
		config.Watcher = nobody{}
	}
	a := &API{config: config, bodies: body.NewReader(config.Bodies), router: newRouter()}
	a.handler = a.observe(a.router)
	var err error
	if a.keyPace, err = newPace("an API key", config.PerKey); err != nil {
		return nil, fmt.Errorf("contract: %w", err)
	}
	if a.instancePace, err = newPace("an instance", config.PerInstance); err != nil {
		return nil, fmt.Errorf("contract: %w", err)
	}
	for _, route := range config.Routes {
		a.serve(route)
	}
	a.serveDocument()
	return a, nil
}

// ServeHTTP answers a request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.handler.ServeHTTP(w, r) }

// Bodies reads the bodies of requests.
func (a *API) Bodies() *body.Reader { return a.bodies }
