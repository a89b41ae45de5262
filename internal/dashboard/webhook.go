// A webhook of an instance: its configuration, a test, and how its delivery is doing.

package dashboard

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/web"
	"github.com/recado-project/recado/internal/webhook"
	"github.com/recado-project/recado/internal/webhook/backlog"
)

// deliveryAge is how old what open pages show of a delivery may be: an attempt is no event.
const deliveryAge = 3 * time.Second

// webhookView is the page of a webhook.
type webhookView struct {
	webhookHead

	Secret    string // empty for who may not change anything
	Delivery  state
	Condition webhook.Condition
	Sandbox   string // for the form: an endpoint of the sandbox that takes every event; empty for none

	filterView
}

// showWebhook shows the page.
func (p *pages) showWebhook(r *frame.Request, found gateway.Instance) error {
	view, err := p.webhookView(r)(r.Context())
	if err != nil {
		return err
	}
	view.Sandbox = p.sandboxEndpoint(r.Request)
	return r.Page("webhook", frame.View{Title: found.Name, Section: "instances", Body: view})
}

// sandboxEndpoint is an endpoint of the sandbox that takes every event; empty for none.
func (p *pages) sandboxEndpoint(r *http.Request) string {
	if !p.Sandbox {
		return ""
	}
	return p.Origin(r) + "/sandbox/files/events"
}

// webhookView returns what makes the page.
func (p *pages) webhookView(r *frame.Request) func(ctx context.Context) (webhookView, error) {
	id := r.PathValue("instanceId")
	return func(ctx context.Context) (webhookView, error) {
		head, err := p.webhookHead(ctx, r, id)
		view := webhookView{webhookHead: head, filterView: p.filterViewOf(head.Hook)}
		if err != nil || head.Hook.ID == "" {
			return view, err
		}
		if view.May {
			view.Secret = string(view.Hook.Secret)
		}
		view.Condition, err = p.Webhooks.Condition(ctx, webhook.Ref{InstanceID: id, ID: head.Hook.ID})
		view.Delivery = deliveryState(view.Condition)
		return view, err
	}
}

// deliveryState says how a delivery is doing.
func deliveryState(c webhook.Condition) state {
	switch c.Flow {
	case webhook.FlowFlowing:
		return state{"good", web.Word("Delivering"), web.Word("Events are delivered as they happen."), ""}
	case webhook.FlowWaiting:
		return state{
			"wait", web.Word("Waiting"), web.Word("The endpoint failed. It is retried automatically, at growing intervals."),
			web.Word("Resume to retry right away."),
		}
	case webhook.FlowSuspended:
		s := state{"bad", web.Word("Suspended"), web.Word("The endpoint failed for days, so deliveries have stopped."), web.Word("Fix the endpoint, then resume to deliver the events that are kept.")}
		if c.Reason == backlog.ReasonGone {
			s.Why = web.Word("The endpoint answered 410 Gone, so deliveries have stopped.")
		}
		return s
	default:
		return state{"", web.Word("Inactive"), web.Word("This webhook receives no events."), web.Word("Activate it to start with the next event.")}
	}
}

// Explained reports whether the reason of the state is a sentence that people can read.
func (v webhookView) Explained() bool {
	return v.Condition.Reason != "" && v.Condition.Flow == webhook.FlowWaiting
}

// Stuck reports whether a visitor can resume the delivery.
func (v webhookView) Stuck() bool {
	return v.Condition.Flow == webhook.FlowWaiting || v.Condition.Flow == webhook.FlowSuspended
}

// saveWebhook creates a webhook or changes it.
func (p *pages) saveWebhook(r *frame.Request, found gateway.Instance) error {
	settings, err := webhookSettings(r)
	if err != nil {
		return err
	}
	var saved webhook.Webhook
	switch which := whichOf(r); which {
	case "":
		saved, err = p.Webhooks.Save(r.Context(), found.ID, settings)
	case another:
		saved, err = p.Webhooks.Create(r.Context(), found.ID, settings)
	default:
		saved, err = p.Webhooks.Change(r.Context(), webhook.Ref{InstanceID: found.ID, ID: which}, settings)
	}
	if err != nil {
		return err
	}
	if endpoint, err := url.Parse(saved.URL); err == nil {
		r.Entry.Detail = endpoint.Host // the rest may be a secret
	}
	head := webhookHead{Hook: saved}
	return r.Go(webhookURL(found.ID, "", head.which()))
}

// deleteWebhook removes a webhook.
func (p *pages) deleteWebhook(r *frame.Request, found gateway.Instance) error {
	ref, err := p.refOf(r.Context(), r, found.ID)
	if err != nil {
		return err
	}
	if err := p.Webhooks.Delete(r.Context(), ref); err != nil {
		return err
	}
	return r.Go("/instances/" + found.ID + "/webhook")
}

// testWebhook sends a test event, and shows what the endpoint said.
func (p *pages) testWebhook(r *frame.Request, found gateway.Instance) error {
	ref, err := p.refOf(r.Context(), r, found.ID)
	if err != nil {
		return err
	}
	result, err := p.Webhooks.Test(r.Context(), ref)
	if err != nil {
		return err
	}
	return r.Fragment("webhook", "result", result)
}

// resumeWebhook tries the endpoint again at once.
func (p *pages) resumeWebhook(r *frame.Request, found gateway.Instance) error {
	ref, err := p.refOf(r.Context(), r, found.ID)
	if err != nil {
		return err
	}
	if err := p.Webhooks.Resume(r.Context(), ref); err != nil {
		return err
	}
	return r.Done("/instances/"+found.ID, web.Word("Resumed. Trying the endpoint now."))
}
