// Package api holds the resources of the HTTP API. Each file has one resource: its
// requests and answers, its operations, and the part of the use cases that it needs.
// routes.go is the table of all operations; api.go puts it together with the
// machinery, which is in these packages:
//
//   - contract: order of checks, errors, registration, the OpenAPI document
//   - body: reading a JSON body within bounds
//   - format: the formats of strings
//   - groups: the resources of groups and communities
//   - calls: the resource of calls
//   - profiles: the resources of the instance's own messenger account
//   - reference: the reference page
//
// The package decides nothing about instances or messages: an operation decodes, calls
// one use case and encodes its answer. The server and the end-to-end tests build it.
package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/recado-project/recado/internal/api/body"
	"github.com/recado-project/recado/internal/api/calls"
	"github.com/recado-project/recado/internal/api/channels"
	"github.com/recado-project/recado/internal/api/chats"
	"github.com/recado-project/recado/internal/api/contacts"
	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/api/groups"
	"github.com/recado-project/recado/internal/api/labels"
	"github.com/recado-project/recado/internal/api/profiles"
	"github.com/recado-project/recado/internal/api/reference"
	"github.com/recado-project/recado/internal/api/webhooks"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/share"
	"github.com/recado-project/recado/internal/trace"
)

// Instances are the use cases of an instance.
type Instances interface {
	InstanceControl
	Linking
	Passkeys
	InstanceManagement
}

// Messages are the use cases of a message.
type Messages interface {
	Sending
	MessageChanges
	MessageFiles
	Answers
}

// Access are the use cases of API keys.
type Access interface {
	Authenticate(ctx context.Context, secret string) (gateway.Key, error)
	Keys
	KeyWatch
}

// Config holds what the API needs. The use cases, Ready, ClientVersion and Logger are required.
type Config struct {
	Instances Instances
	Messages  Messages
	Queue     Queue
	Chats     chats.Reading
	Directory Directory
	Groups    groups.UseCases
	Profiles  profiles.UseCases
	Calls     calls.UseCases
	Contacts  contacts.UseCases
	Presences contacts.Presences
	Labels    labels.UseCases
	Channels  channels.UseCases
	Access    Access
	Events    Events
	Webhooks  webhooks.UseCases
	// AccountWebhooks are those that hear all instances.
	AccountWebhooks webhooks.AccountUseCases
	// Ready reports whether requests can be served now.
	Ready func(ctx context.Context) error
	// ClientVersion says which version of the messenger's web client is claimed.
	ClientVersion func() gateway.ClientVersion
	Logger        *slog.Logger

	// Files opens the files of download links; nil serves none.
	Files Files
	// Stopping ends when the program begins to stop: then the streams end, and bodies that are still
	// being sent are given up; other requests are served to their end. nil never does.
	Stopping context.Context //nolint:containedctx // a signal

	Version string // of the program
	// PublicURL is where clients reach the gateway, "https://messages.example.org";
	// links in answers begin with it. Empty means the address of each request.
	PublicURL string
	// BehindProxy says that a proxy in front may be trusted about the scheme of a
	// request (X-Forwarded-Proto).
	BehindProxy bool
	// StreamPause is how long a stream may be silent: then it sends a sign of life, so
	// that no proxy cuts it, and ends if its key or its instance has ended. 0 means
	// 15 seconds.
	StreamPause time.Duration
	MaxBody     int64 // bytes of a request body without media; 0 means 1 MiB
	MaxMedia    int64 // bytes of the media in a request body, decoded; 0 means 64 MiB
	// Limits is asked with every request, and may say others each time; nil: the usual ones.
	// Bodies and Requests count from the start.
	Limits  func() Limits
	TempDir string // folder of temporary files; empty means the machine's own
	// BodyPatience is how long a request body may bring no byte; 0 means 15 seconds.
	BodyPatience time.Duration
	// Watcher is told of every request; nil: nobody is.
	Watcher contract.Watcher
	// Tracer begins a trace with every request; nil: there are none.
	Tracer *trace.Tracer
	Now    func() time.Time // nil means the wall clock

	requests, streams *share.Pool // made by New
}

// API is the handler of all operations. It is safe for concurrent use.
type API struct {
	contract          *contract.API
	requests, streams *share.Pool
}

// New builds the API. It starts nothing.
func New(config Config) (*API, error) {
	for _, service := range []any{config.Instances, config.Messages, config.Chats, config.Directory, config.Groups, config.Profiles, config.Contacts, config.Channels, config.Labels, config.Presences, config.Calls, config.Access, config.Events, config.Webhooks} {
		if service == nil {
			return nil, errors.New("api: a use case is missing")
		}
	}
	if config.Ready == nil || config.ClientVersion == nil || config.Logger == nil {
		return nil, errors.New("api: readiness or logger is missing")
	}
	if config.StreamPause == 0 {
		config.StreamPause = defaultStreamPause
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	if config.Stopping == nil {
		config.Stopping = context.Background()
	}
	if config.Limits == nil {
		config.Limits = func() Limits { return Limits{} }
	}
	config.requests, config.streams = newRequestPool(config.Limits()), newStreamPool(config.Limits)
	origin := contract.Origin{PublicURL: config.PublicURL, BehindProxy: config.BehindProxy}
	made, err := contract.New(contract.Config{
		Authenticate: config.Access.Authenticate,
		FindInstance: config.Instances.Get,
		Routes:       routes(config, origin),
		Logger:       config.Logger,
		About:        about,
		Tags:         tags(),
		Version:      config.Version,
		Origin:       origin,
		Bodies: body.Config{
			MaxJSON: config.MaxBody, MaxMedia: config.MaxMedia, MaxHeld: config.Limits().Bodies,
			Patience: config.BodyPatience, TempDir: config.TempDir, Stopping: config.Stopping,
		},
		Requests:    config.requests,
		PerKey:      func() int { return config.Limits().PerKey },
		PerInstance: func() int { return config.Limits().PerInstance },
		Watcher:     config.Watcher, Tracer: config.Tracer, Now: config.Now,
	})
	if err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	if err := reference.Serve(made); err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	return &API{contract: made, requests: config.requests, streams: config.streams}, nil
}

// Bodies reads the bodies of requests. The dashboard reads its forms with it.
func (a *API) Bodies() *body.Reader { return a.contract.Bodies() }

// Requests has the places of requests that are in progress, Streams those of event streams; the
// dashboard's requests and live pages have theirs there too.
func (a *API) Requests() *share.Pool { return a.requests }

// Streams has the places of event streams and live pages.
func (a *API) Streams() *share.Pool { return a.streams }

// Pools are what its requests share, and those of the dashboard.
func (a *API) Pools() []*share.Pool {
	return append(a.Bodies().Pools(), a.requests, a.streams)
}

// ServeHTTP answers a request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.contract.ServeHTTP(w, r) }
