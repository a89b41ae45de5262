// The webhooks of the account, which hear all its instances: a list, and a page for each.

package dashboard

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/web"
	"github.com/recado-project/recado/internal/webhook"
	"github.com/recado-project/recado/internal/webhook/accountwide"
)

// accountWebhooksPath is where the list is.
const accountWebhooksPath = "/webhooks"

// accountWebhooksView is the list, and the secret that signs as Meta does.
type accountWebhooksView struct {
	Hooks     []accountwide.Webhook
	Signs     bool      // there is a format that the app secret signs
	AppSecret time.Time // when it was set; zero: there is none
}

// Full reports whether the account can't have more.
func (v accountWebhooksView) Full() bool { return len(v.Hooks) >= accountwide.MaxWebhooks }

// showAccountWebhooks shows the list.
func (p *pages) showAccountWebhooks(r *frame.Request) error {
	listed, err := p.AccountWebhooks.List(r.Context(), r.Visitor.Key.AccountID, gateway.PageRequest{Page: 1, Limit: accountwide.MaxWebhooks})
	if err != nil {
		return err
	}
	view := accountWebhooksView{Hooks: listed.Items, Signs: slices.Contains(p.Webhooks.Formats(), "cloud")}
	if view.AppSecret, err = p.Access.AppSecretSince(r.Context(), r.Visitor.Key.AccountID); err != nil {
		return err
	}
	return r.Page("account_webhooks", frame.View{Title: r.Text(web.Word("Webhooks")), Section: "webhooks", Body: view})
}

// changeAppSecret sets the app secret, or removes it. The page never shows it.
func (p *pages) changeAppSecret(r *frame.Request) (err error) {
	id := r.Visitor.Key.AccountID
	if r.Entry.Detail = "set"; r.PostFormValue("remove") == "" {
		_, err = p.Access.SetAppSecret(r.Context(), id, strings.TrimSpace(r.PostFormValue("appSecret")))
	} else {
		r.Entry.Detail, err = "removed", p.Access.DeleteAppSecret(r.Context(), id)
	}
	if err != nil {
		return err
	}
	return r.Go(accountWebhooksPath)
}

// accountWebhookView is the page of a webhook, or of one that is to be made.
type accountWebhookView struct {
	Hook    webhook.Webhook // without an id: it is to be made
	Secret  string
	Sandbox string // what the form begins with

	filterView
}

// Names are the names of its headers.
func (v accountWebhookView) Names() (names []string) {
	for _, header := range v.Hook.Headers {
		names = append(names, header.Name)
	}
	return names
}

// To is where the form goes.
func (v accountWebhookView) To() string {
	if v.Hook.ID == "" {
		return accountWebhooksPath
	}
	return accountWebhooksPath + "/" + v.Hook.ID
}

// accountWebhookPage shows the page of a webhook.
func (p *pages) accountWebhookPage(r *frame.Request, hook webhook.Webhook, title string) error {
	return r.Page("account_webhook", frame.View{Title: title, Section: "webhooks", Body: accountWebhookView{
		Hook: hook, Secret: string(hook.Secret), Sandbox: p.sandboxEndpoint(r.Request), filterView: p.filterViewOf(hook),
	}})
}

// showNewAccountWebhook shows the form for a webhook that is to be made.
func (p *pages) showNewAccountWebhook(r *frame.Request) error {
	return p.accountWebhookPage(r, webhook.Webhook{}, r.Text(web.Word("Add webhook")))
}

// showAccountWebhook shows a webhook.
func (p *pages) showAccountWebhook(r *frame.Request) error {
	found, err := p.AccountWebhooks.Get(r.Context(), r.Visitor.Key.AccountID, r.PathValue("webhookId"))
	if err != nil {
		return err
	}
	return p.accountWebhookPage(r, found.Webhook, hostOf(found.Webhook))
}

// createAccountWebhook makes a webhook.
func (p *pages) createAccountWebhook(r *frame.Request) error {
	settings, err := webhookSettings(r)
	if err != nil {
		return err
	}
	made, err := p.AccountWebhooks.Create(r.Context(), r.Visitor.Key.AccountID, settings)
	if err != nil {
		return err
	}
	r.Entry.Subject = hostOf(made.Webhook)
	return r.Go(accountWebhooksPath + "/" + made.ID)
}

// changeAccountWebhook changes a webhook.
func (p *pages) changeAccountWebhook(r *frame.Request) error {
	settings, err := webhookSettings(r)
	if err != nil {
		return err
	}
	changed, err := p.AccountWebhooks.Change(r.Context(), r.Visitor.Key.AccountID, r.PathValue("webhookId"), settings)
	if err != nil {
		return err
	}
	r.Entry.Subject = hostOf(changed.Webhook)
	return r.Go(accountWebhooksPath + "/" + changed.ID)
}

// deleteAccountWebhook removes a webhook.
func (p *pages) deleteAccountWebhook(r *frame.Request) error {
	accountID, id := r.Visitor.Key.AccountID, r.PathValue("webhookId")
	found, err := p.AccountWebhooks.Get(r.Context(), accountID, id)
	if err != nil {
		return err
	}
	if err := p.AccountWebhooks.Delete(r.Context(), accountID, id); err != nil {
		return err
	}
	r.Entry.Subject = hostOf(found.Webhook)
	return r.Go(accountWebhooksPath)
}

// hostOf is what a webhook is called: the rest of its address may be a secret.
func hostOf(hook webhook.Webhook) string {
	endpoint, err := url.Parse(hook.URL)
	if err != nil {
		return hook.ID
	}
	return endpoint.Host
}
