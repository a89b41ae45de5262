// The webhooks of the account, which hear all its instances: a list, and a page for each.

package webhooks

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/required"
	"github.com/recado-project/recado/internal/user"
	"github.com/recado-project/recado/internal/web"
	"github.com/recado-project/recado/internal/webhook"
	"github.com/recado-project/recado/internal/webhook/accountwide"
)

// Path is where the list is.
const Path = "/webhooks"

// another is in the place of the id of a webhook that is to be made.
const another = "new"

// UseCases are the use cases of the webhooks of an account.
type UseCases interface {
	Create(ctx context.Context, accountID string, settings webhook.Settings) (accountwide.Webhook, error)
	Change(ctx context.Context, accountID, id string, settings webhook.Settings) (accountwide.Webhook, error)
	Get(ctx context.Context, accountID, id string) (accountwide.Webhook, error)
	List(ctx context.Context, accountID string, page gateway.PageRequest) (gateway.Page[accountwide.Webhook], error)
	Delete(ctx context.Context, accountID, id string) error
}

// Config is what the pages stand on.
type Config struct {
	Webhooks UseCases
	// Sandbox returns the address of an endpoint that takes every event, as a request shows it;
	// empty for none.
	Sandbox func(r *http.Request) string
}

// pages has the handlers.
type pages struct{ Config }

// Routes returns the pages of the account's webhooks. They are for owners: whoever may hear all
// instances hears also those that others make.
func Routes(config Config) ([]frame.Route, error) {
	if err := required.Check("dashboard/webhooks", config); err != nil {
		return nil, err
	}
	p := &pages{config}
	const one = Path + "/{webhookId}"
	own := func(method, path string, action user.Action, handle func(*frame.Request) error) frame.Route {
		return frame.Route{Method: method, Path: path, Role: gateway.RoleOwner, Action: action, Handle: handle}
	}
	return []frame.Route{
		own(http.MethodGet, Path, "", p.list),
		own(http.MethodGet, Path+"/"+another, "", p.showNew),
		own(http.MethodPost, Path, user.ActionWebhookSaved, p.create),
		own(http.MethodGet, one, "", p.show),
		own(http.MethodPost, one, user.ActionWebhookSaved, p.change),
		own(http.MethodPost, one+"/delete", user.ActionWebhookDeleted, p.remove),
	}, nil
}

// listView is the list.
type listView struct{ Hooks []accountwide.Webhook }

// Full reports whether the account can't have more.
func (v listView) Full() bool { return len(v.Hooks) >= accountwide.MaxWebhooks }

// list shows the list.
func (p *pages) list(r *frame.Request) error {
	listed, err := p.Webhooks.List(r.Context(), r.Visitor.Key.AccountID, gateway.PageRequest{Page: 1, Limit: accountwide.MaxWebhooks})
	if err != nil {
		return err
	}
	return r.Page("account_webhooks", frame.View{Title: r.Text(web.Word("Webhooks")), Section: "webhooks", Body: listView{listed.Items}})
}

// formView is the page of a webhook, or of one that is to be made.
type formView struct {
	Hook         webhook.Webhook // without an id: it is to be made
	Secret       string
	Sandbox      string // what the form begins with
	Kinds, Chats []Choice
}

// Limited reports whether it gets only some of the events.
func (v formView) Limited() bool { return len(v.Hook.Filter.Kinds)+len(v.Hook.Filter.Chats) > 0 }

// Chosen are the kinds of chats that it is limited to.
func (v formView) Chosen() []Choice {
	return slices.DeleteFunc(slices.Clone(v.Chats), func(c Choice) bool { return !c.Chosen })
}

// Names are the names of its headers.
func (v formView) Names() (names []string) {
	for _, header := range v.Hook.Headers {
		names = append(names, header.Name)
	}
	return names
}

// To is where the form goes.
func (v formView) To() string {
	if v.Hook.ID == "" {
		return Path
	}
	return Path + "/" + v.Hook.ID
}

// form shows the page of a webhook.
func (p *pages) form(r *frame.Request, hook webhook.Webhook, title string) error {
	return r.Page("account_webhook", frame.View{Title: title, Section: "webhooks", Body: formView{
		Hook: hook, Secret: string(hook.Secret), Sandbox: p.Sandbox(r.Request), Kinds: Kinds(hook.Filter), Chats: Chats(hook.Filter),
	}})
}

// showNew shows the form for a webhook that is to be made.
func (p *pages) showNew(r *frame.Request) error {
	return p.form(r, webhook.Webhook{}, r.Text(web.Word("Add a webhook")))
}

// show shows a webhook.
func (p *pages) show(r *frame.Request) error {
	found, err := p.Webhooks.Get(r.Context(), r.Visitor.Key.AccountID, r.PathValue("webhookId"))
	if err != nil {
		return err
	}
	return p.form(r, found.Webhook, hostOf(found.Webhook))
}

// create makes a webhook.
func (p *pages) create(r *frame.Request) error {
	settings, err := Settings(r)
	if err != nil {
		return err
	}
	made, err := p.Webhooks.Create(r.Context(), r.Visitor.Key.AccountID, settings)
	if err != nil {
		return err
	}
	r.Entry.Subject = hostOf(made.Webhook)
	return r.Go(Path + "/" + made.ID)
}

// change changes a webhook.
func (p *pages) change(r *frame.Request) error {
	settings, err := Settings(r)
	if err != nil {
		return err
	}
	changed, err := p.Webhooks.Change(r.Context(), r.Visitor.Key.AccountID, r.PathValue("webhookId"), settings)
	if err != nil {
		return err
	}
	r.Entry.Subject = hostOf(changed.Webhook)
	return r.Go(Path + "/" + changed.ID)
}

// remove removes a webhook.
func (p *pages) remove(r *frame.Request) error {
	accountID, id := r.Visitor.Key.AccountID, r.PathValue("webhookId")
	found, err := p.Webhooks.Get(r.Context(), accountID, id)
	if err != nil {
		return err
	}
	if err := p.Webhooks.Delete(r.Context(), accountID, id); err != nil {
		return err
	}
	r.Entry.Subject = hostOf(found.Webhook)
	return r.Go(Path)
}

// hostOf is what a webhook is called: the rest of its address may be a secret.
func hostOf(hook webhook.Webhook) string {
	endpoint, err := url.Parse(hook.URL)
	if err != nil {
		return hook.ID
	}
	return endpoint.Host
}
