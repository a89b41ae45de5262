// Package dashboard is what people see of the gateway in a browser. Each page is one
// file for its handler and one for its template. It decides nothing: it calls the same
// use cases as the API, with a key of the visitor's account.
package dashboard

import (
	"context"
	"embed"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/channel"
	"github.com/recado-project/recado/internal/chat"
	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/dashboard/live"
	"github.com/recado-project/recado/internal/directory"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/group"
	"github.com/recado-project/recado/internal/health"
	"github.com/recado-project/recado/internal/instance"
	"github.com/recado-project/recado/internal/label"
	"github.com/recado-project/recado/internal/messaging"
	"github.com/recado-project/recado/internal/messaging/queue"
	"github.com/recado-project/recado/internal/messaging/traffic"
	"github.com/recado-project/recado/internal/outbound"
	"github.com/recado-project/recado/internal/profile"
	"github.com/recado-project/recado/internal/reference"
	"github.com/recado-project/recado/internal/required"
	"github.com/recado-project/recado/internal/web"
	"github.com/recado-project/recado/internal/webhook"
	"github.com/recado-project/recado/internal/webhook/accountwide"
)

// Files are the templates, scripts and translations of the pages.
//
//go:embed *.html locale assets
var Files embed.FS

// Config is what the pages stand on. The first part is required.
type Config struct {
	// MaxAge bounds how old the figures of open pages may be that nothing is told about; 0: some
	// seconds, as each page says.
	MaxAge time.Duration

	Site      *web.Site // made of this package's Files among others
	Logger    *slog.Logger
	Pulse     *live.Pulse
	Users     frame.Audit
	Instances *instance.Service
	Messages  *messaging.Service
	Chats     *chat.Service
	Labels    *label.Service
	Groups    *group.Service
	People    *directory.Service
	Channels  *channel.Service
	Profiles  *profile.Service
	Queue     *queue.Queue
	Budgets   Budgets
	Answers   Answers
	Traffic   *traffic.Traffic
	Webhooks  *webhook.Service
	// AccountWebhooks are those that hear all instances.
	AccountWebhooks *accountwide.Service
	Events          *eventlog.Log
	Access          *access.Service
	Health          *health.Service
	// Reference describes the API. It is called for each page with code.
	Reference func() (*reference.Reference, error)
	// Origin returns the address under which clients reach the API, as a request shows
	// it.
	Origin func(r *http.Request) string

	// Guard allows the addresses from which accounts' pictures are fetched; nil allows
	// all.
	Guard *outbound.Guard

	Shares   frame.Shares     // with the API
	MaxMedia int64            // of a file to send, in bytes
	Sandbox  bool             // there are phones to look at
	Now      func() time.Time // nil: the wall clock
}

// pages has the handlers.
type pages struct {
	Config

	pictures *pictures
}

// New makes the pages.
func New(config Config) (*frame.Pages, error) {
	if err := required.Check("dashboard", config, "Guard", "Now"); err != nil {
		return nil, err
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	p := &pages{Config: config, pictures: newPictures(config.Guard)}
	return frame.New(frame.Config{
		Site: config.Site, Logger: config.Logger, Users: config.Users, Sandbox: config.Sandbox, Shares: config.Shares,
	}, p.routes()...)
}

// instanceHandler handles a request about an instance that the visitor may see.
type instanceHandler func(r *frame.Request, found gateway.Instance) error

// of makes a handler of one that is about the instance of the request's path.
func (p *pages) of(handle instanceHandler) func(r *frame.Request) error {
	return func(r *frame.Request) error {
		found, err := p.instanceOf(r)
		if err != nil {
			return err
		}
		return handle(r, found)
	}
}

// instanceOf returns the instance of the request's path. Its error is NotFound for one
// that does not exist or is another account's: a stranger does not learn which.
func (p *pages) instanceOf(r *frame.Request) (gateway.Instance, error) {
	found, err := p.Instances.Get(r.Context(), r.PathValue("instanceId"))
	if err != nil {
		return gateway.Instance{}, err
	}
	if !r.Visitor.Key.InScope(found) {
		return gateway.Instance{}, gateway.Errorf(gateway.NotFound, gateway.CodeInstanceNotFound, "there is no such instance")
	}
	r.Entry.Subject = found.Name
	return found, nil
}

// livePage is a page of an instance whose block "view" is kept up to date.
type livePage[T any] struct {
	pages  *pages
	name   string        // of its template
	maxAge time.Duration // as in live.Part
	// view reads what a request asks of the page, and returns what makes the page's data at any time.
	view func(r *frame.Request) func(ctx context.Context) (T, error)
}

// show shows the whole page.
func (l livePage[T]) show(r *frame.Request, found gateway.Instance) error {
	view, err := l.view(r)(r.Context())
	if err != nil {
		return err
	}
	return r.Page(l.name, frame.View{Title: found.Name, Section: "instances", Body: view})
}

// update answers with the stream that keeps the block up to date.
func (l livePage[T]) update(r *frame.Request, _ gateway.Instance) error {
	return serveLive(l.pages, r, l.name, l.maxAge, l.view(r))
}

// serveLive answers with the stream of a page's block "view". view makes the data of the block; it
// must depend on nothing but the address, the language, the account and the role, and the block on
// nothing but its data.
func serveLive[T any](p *pages, r *frame.Request, page string, maxAge time.Duration, view func(ctx context.Context) (T, error)) error {
	lang := r.Lang()
	ended, stop := r.Visitor.Watch()
	defer stop()
	if p.MaxAge > 0 {
		maxAge = min(maxAge, p.MaxAge)
	}
	p.Pulse.Serve(r.W, r.Request, ended, live.Part{
		Key:        strings.Join([]string{lang, r.Visitor.Key.AccountID, string(r.Visitor.Actor.Role), r.URL.RequestURI()}, "|"),
		InstanceID: r.PathValue("instanceId"), MaxAge: maxAge,
		Read:   func(ctx context.Context) (any, error) { return view(ctx) },
		Render: func(shown any) ([]byte, error) { return p.Site.Render(lang, page, "view", shown) },
	})
	return nil
}
