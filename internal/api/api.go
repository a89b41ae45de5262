// Package api holds the resources of the HTTP API. Each file has one resource: its
// requests, its answers and its operations. routes.go is the table of all operations;
// api.go puts it together with the machinery, which is in these packages:
//
//   - contract: order of checks, errors, registration, the OpenAPI document
//   - body: reading a JSON body within bounds
//   - format: the formats of strings
//   - describe: the operations as the reference shows them
//
// The package decides nothing about instances or messages: an operation decodes, calls
// one use case and encodes its answer. The server and the end-to-end tests build it.
package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/api/describe"
	"github.com/recado-project/recado/internal/body"
	"github.com/recado-project/recado/internal/call"
	"github.com/recado-project/recado/internal/channel"
	"github.com/recado-project/recado/internal/chat"
	"github.com/recado-project/recado/internal/directory"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/instance"
	"github.com/recado-project/recado/internal/label"
	"github.com/recado-project/recado/internal/media/upload"
	"github.com/recado-project/recado/internal/messaging/queue"
	"github.com/recado-project/recado/internal/presence"
	"github.com/recado-project/recado/internal/profile"
	"github.com/recado-project/recado/internal/reference"
	"github.com/recado-project/recado/internal/required"
	"github.com/recado-project/recado/internal/share"
	"github.com/recado-project/recado/internal/template"
	"github.com/recado-project/recado/internal/trace"
	"github.com/recado-project/recado/internal/webhook"
	"github.com/recado-project/recado/internal/webhook/accountwide"
)

// Messages are the use cases of a message.
type Messages interface {
	Sending
	MessageChanges
	MessageFiles
	Answers
}

// Config holds what the API needs. The use cases, Ready, ClientVersion and Logger are required.
type Config struct {
	Instances *instance.Service
	Messages  Messages
	Uploads   *upload.Service
	Queue     *queue.Queue
	Chats     *chat.Service
	Directory Directory
	Groups    Groups
	Profiles  *profile.Service
	Calls     *call.Service
	Contacts  *directory.Service
	Presences *presence.Service
	Labels    *label.Service
	Templates *template.Service
	Channels  *channel.Service
	Access    *access.Service
	Events    Events
	Webhooks  *webhook.Service
	// AccountWebhooks are those that hear all instances.
	AccountWebhooks *accountwide.Service
	// Ready reports whether requests can be served now.
	Ready func(ctx context.Context) error
	// ClientVersion says which version of the messenger's web client is claimed.
	ClientVersion func() gateway.ClientVersion
	Logger        *slog.Logger

	// Files opens the files of download links; nil serves none.
	Files Files
	// Stopping ends when the program begins to stop: then the streams end, and bodies that are still
	// being sent are given up; other requests are served to their end.
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
	optional := []string{"Files", "Limits", "Watcher", "Tracer", "Now", "requests", "streams"}
	if err := required.Check("api", config, optional...); err != nil {
		return nil, err
	}
	if config.StreamPause == 0 {
		config.StreamPause = defaultStreamPause
	}
	if config.Now == nil {
		config.Now = time.Now
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
			MaxJSON: config.MaxBody, MaxMedia: config.MaxMedia, MaxBytes: config.Limits().Bodies,
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

// Reference describes the operations for the pages that show them. It builds the whole document.
func (a *API) Reference() (*reference.Reference, error) {
	return describe.Reference(a.contract.NewDocument())
}

// ServeHTTP answers a request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.contract.ServeHTTP(w, r) }

// about introduces the API in its document.
const about = "Recado is a self-hosted gateway between programs and a phone messenger: instances are linked to messenger accounts, " +
	"and messages are sent and received through them.\n\n" +
	"Every failed request gets the same error body: `error` is for programs, `message` is for people. " +
	"Checks come in this order: path, method, API key, size of the body, instance, access, validation, state of the instance.\n\n" +
	"Bodies are read as JSON, whatever their `Content-Type`. Unknown fields are ignored, null counts as absent, and a value of " +
	"another type is refused. Times are UTC with milliseconds. Every answer has the header `X-Request-Id`; the log has the same identifier.\n\n" +
	"If requests are limited (`--rate-limit-key`, `--rate-limit-instance`), every answer says how many are allowed in a minute " +
	"(`RateLimit-Limit`), how many are left (`RateLimit-Remaining`), and after how many seconds all are available again (`RateLimit-Reset`)."

// The tags group the operations in the document and on the reference page.
const (
	tagInstances = "Instances"
	tagMessages  = "Messages"
	tagDirectory = "People"
	tagEvents    = contract.EventsTag
	tagCalls     = "Calls"
	tagChannels  = "Channels"
	tagChats     = "Chats"
	tagContacts  = "Contacts"
	tagGroups    = "Groups"
	tagLabels    = "Labels"
	tagProfiles  = "Own account"
	tagUploads   = "Uploads"
	tagPartner   = "Partner"
	tagHealth    = "Health"
)

func tags() []*huma.Tag {
	return []*huma.Tag{
		{Name: tagInstances, Description: "Instances, and linking them to accounts."},
		{Name: tagMessages, Description: "Send messages, and change those that were sent or received. A message is identified by its platform identifier, by the composite form `<chat id>_<platform identifier>`, or by the `id` of a send result."},
		{Name: tagUploads, Description: "Files that are uploaded once and sent many times. They belong to the account, and to no instance."},
		{Name: tagChats, Description: "What the gateway has kept: chats, the messages in them, and a search through their words. Reading asks the platform nothing, and works while an instance is not connected."},
		{Name: tagDirectory, Description: "Numbers and contacts."},
		{Name: tagLabels, Description: "Marks that the account's owner puts on chats and messages, to sort them."},
		{Name: tagContacts, Description: "The people whom an account knows: their names, the address book, and the two addresses that everybody has."},
		{Name: tagProfiles, Description: "The messenger account of an instance: what others see of it, its privacy settings, and whom it has blocked."},
		{Name: tagCalls, Description: "Calls that ring: rejecting one. Whether all are rejected is a setting of the instance."},
		{Name: tagGroups, Description: "Groups and communities: which there are, what is set in them, who is in them, and how people come in."},
		{Name: tagChannels, Description: "Channels: one side writes, and whoever follows reads. What arrives from those that the account follows is among its messages."},
		{Name: tagEvents, Description: "The events of an instance, by webhook or as a stream. Both read the same log, which loses nothing for as long as events are kept."},
		{Name: tagPartner, Description: "Create and remove instances and API keys. Needs a partner key."},
		{Name: tagHealth, Description: "For load balancers and supervisors. Needs no API key."},
	}
}
