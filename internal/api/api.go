// Package api is the contract over HTTP: it authenticates, decodes, validates,
// calls one use case and encodes its answer. It holds no rules about instances
// or messages; those are in the packages that it calls. The server and the
// end-to-end tests build it.
//
// The operations are declared with huma, which gives validation and the OpenAPI
// document; nothing of huma leaves this package. What the contract has and huma
// does not (its error body, its order of checks, JSON read exactly) stands in
// errors.go, gate.go, body.go and payload.go.
package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/api/body"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging"
)

// Instances are the use cases of an instance.
type Instances interface {
	Create(ctx context.Context, accountID, name string) (gateway.Instance, error)
	Get(ctx context.Context, id string) (gateway.Instance, error)
	List(ctx context.Context, key gateway.Key, page gateway.PageRequest) (gateway.Page[gateway.Instance], error)
	QR(ctx context.Context, id string) (gateway.QRCode, error)
	PairingCode(ctx context.Context, id, number string) (gateway.PairingCode, error)
	Restart(ctx context.Context, id string) error
	Stop(ctx context.Context, id string) error
	Logout(ctx context.Context, id string) error
	SetPayment(ctx context.Context, id string, pending bool) (gateway.Instance, error)
	Delete(ctx context.Context, id string) error
}

// Messages are the use cases of a message.
type Messages interface {
	SendText(ctx context.Context, request messaging.Request, text string) (messaging.Result, error)
	SendMedia(ctx context.Context, request messaging.Request, kind gateway.MessageType, params messaging.MediaParams) (messaging.Result, error)
	SendLocation(ctx context.Context, request messaging.Request, location gateway.Location) (messaging.Result, error)
	SendContact(ctx context.Context, request messaging.Request, card gateway.ContactCard) (messaging.Result, error)
	Forward(ctx context.Context, request messaging.Request, ref gateway.MessageRef) (messaging.Result, error)
	Edit(ctx context.Context, instanceID string, ref gateway.MessageRef, text string) (messaging.Result, error)
	MarkRead(ctx context.Context, instanceID string, ref gateway.MessageRef) error
	Delete(ctx context.Context, instanceID string, ref gateway.MessageRef) error
	React(ctx context.Context, instanceID string, ref gateway.MessageRef, reaction string) error
	MediaLink(ctx context.Context, instanceID string, ref gateway.MessageRef, baseURL string) (messaging.DownloadLink, error)
	CheckFile(ctx context.Context, key string) error
}

// Directory are the use cases about people and groups.
type Directory interface {
	CheckNumbers(ctx context.Context, instanceID string, numbers []string) ([]gateway.Registration, error)
	SendPresence(ctx context.Context, instanceID string, to gateway.Recipient, presence gateway.Presence) error
	ProfilePicture(ctx context.Context, instanceID string, of gateway.Recipient) (string, error)
	Block(ctx context.Context, instanceID string, who gateway.Recipient, blocked bool) error
	Group(ctx context.Context, instanceID string, group gateway.JID) (gateway.Group, error)
}

// Access checks and makes API keys.
type Access interface {
	Authenticate(ctx context.Context, secret string) (gateway.Key, error)
	CreateKey(ctx context.Context, params access.KeyParams) (gateway.Key, string, error)
	ListKeysWithin(ctx context.Context, own gateway.Key, page gateway.PageRequest) (gateway.Page[gateway.Key], error)
	RevokeKeyWithin(ctx context.Context, own gateway.Key, id string) error
	Watch(key gateway.Key) (ended <-chan struct{}, stop func())
}

// Config is what the API stands on. Its services, Ready and Logger are required.
type Config struct {
	Instances Instances
	Messages  Messages
	Directory Directory
	Access    Access
	Events    Events
	Webhooks  Webhooks
	// Stopping, when closed, ends the streams; everything else is answered to its
	// end. nil never does.
	Stopping <-chan struct{}
	// Ready reports whether requests can be served now.
	Ready   func(ctx context.Context) error
	Version string // of the program
	// PublicURL is where clients reach the gateway, "https://messages.example.org";
	// links in answers begin with it. Empty: with how the request came.
	PublicURL string
	// BehindProxy says that a proxy in front is to be believed about the scheme
	// of a request (X-Forwarded-Proto).
	BehindProxy bool
	// Files opens the files of download links; nil serves none.
	Files Files
	// StreamPause is how long a stream may be silent: then it says that it is still
	// there, so that nothing on the way takes it for dead, and ends where its key
	// or its instance has ended. 0 means 15 seconds.
	StreamPause time.Duration
	MaxBody     int64 // bytes of a request body without media; 0 means 1 MiB
	MaxMedia    int64 // bytes of the media in a request body, decoded; 0 means 64 MiB
	Limits      Limits
	TempDir     string // folder of temporary files; empty: the machine's own
	// BodyPatience is how long a request body may bring no byte; 0 means 15 seconds.
	BodyPatience time.Duration
	Now          func() time.Time
	Logger       *slog.Logger
}

// service is the API with what it stands on.
type service struct {
	Config

	bodies       *body.Reader
	keyPace      *pace // nil: any
	instancePace *pace // nil: any
	streams      *places
	creating     sync.Mutex // held while an instance is created within a limit

	routes     *router
	huma       huma.API
	operations []operation // in the order of their registration
}

// New builds the handler of all operations. It starts nothing and is safe for
// concurrent use.
func New(config Config) (http.Handler, error) {
	s, err := build(config)
	if err != nil {
		return nil, err
	}
	return s.observe(s.routes), nil
}

func build(config Config) (*service, error) {
	for _, service := range []any{config.Instances, config.Messages, config.Directory, config.Access, config.Events, config.Webhooks} {
		if service == nil {
			return nil, errors.New("api: a service is missing")
		}
	}
	if config.Ready == nil || config.Logger == nil {
		return nil, errors.New("api: readiness or logger is missing")
	}
	if config.StreamPause == 0 {
		config.StreamPause = defaultStreamPause
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	config.Limits = config.Limits.withDefaults()
	s := &service{
		Config: config, routes: newRouter(),
		bodies: body.NewReader(body.Config{
			MaxJSON: config.MaxBody, MaxMedia: config.MaxMedia, MaxHeld: config.Limits.Bodies,
			Patience: config.BodyPatience, TempDir: config.TempDir,
		}), streams: newPlaces(config.Limits.Streams),
	}
	var err error
	if s.keyPace, err = newPace("an API key", config.Limits.PerKey); err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	if s.instancePace, err = newPace("an instance", config.Limits.PerInstance); err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	s.huma = humago.New(s.routes, humaConfig(config.Version))
	s.huma.UseMiddleware(s.gate)
	s.registerInstances()
	s.registerDirectory()
	s.registerMessages()
	s.registerWebhooks()
	s.registerEvents()
	s.registerPartner()
	s.registerKeys()
	s.registerHealth()
	s.serveFiles()
	s.finishDocument()
	if err := s.serveDocument(); err != nil {
		return nil, err
	}
	if err := s.serveReference(); err != nil {
		return nil, err
	}
	return s, nil
}
