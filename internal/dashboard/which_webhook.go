// Which of an instance's webhooks a page is about.

package dashboard

import (
	"context"
	"net/url"
	"strconv"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/webhook"
)

const (
	// whichParam names a webhook in the query of a page: its id, or another. Without it, a
	// page is about the one of webhook-config, or the oldest if there is none.
	whichParam = "webhook"
	// another is in the place of the id of a webhook that is to be made.
	another = "new"
)

// webhookHead is what all pages of webhooks begin with.
type webhookHead struct {
	instanceHead

	Hook  webhook.Webhook // without an id: there is none
	New   bool            // it is to be made, beside others
	Owner bool            // the visitor may change those of the account
	All   []webhookLine   // every webhook of the instance
}

// webhookLine is one of the webhooks.
type webhookLine struct {
	webhook.Webhook

	Delivery state
	Pending  int64
}

// URL returns the address of a page, or of a command, of the webhook.
func (h webhookHead) URL(below string) string {
	return webhookURL(h.Instance.ID, below, h.which())
}

// At returns the address of the page of another webhook of the instance.
func (h webhookHead) At(line webhookLine) string {
	if line.First {
		return webhookURL(h.Instance.ID, "", "")
	}
	return webhookURL(h.Instance.ID, "", line.ID)
}

// Another returns the address of the form for one more webhook.
func (h webhookHead) Another() string { return webhookURL(h.Instance.ID, "", another) }

// Again returns the address that delivers an event again.
func (h webhookHead) Again(sequence int64) string {
	return withWhich("/instances/"+h.Instance.ID+"/events/"+strconv.FormatInt(sequence, 10)+"/redeliver", h.which())
}

func (h webhookHead) which() string {
	switch {
	case h.New:
		return another
	case h.Hook.First:
		return ""
	default:
		return h.Hook.ID
	}
}

func webhookURL(instanceID, below, which string) string {
	return withWhich("/instances/"+instanceID+"/webhook"+below, which)
}

func withWhich(path, which string) string {
	query := url.Values{}
	if which != "" {
		query.Set(whichParam, which)
	}
	return frame.WithQuery(path, query)
}

// whichOf returns what a request says of which webhook it is about. What can't be an id comes
// back as one that no webhook has.
func whichOf(r *frame.Request) string {
	which := r.URL.Query().Get(whichParam)
	if which != "" && which != another && uuid.Validate(which) != nil {
		return uuid.Nil.String()
	}
	return which
}

// refOf returns the webhook that a request names. Where it names none, it is the one of
// webhook-config, or the oldest if there is none; its id is empty if there is no webhook at all.
func (p *pages) refOf(ctx context.Context, r *frame.Request, instanceID string) (webhook.Ref, error) {
	which := whichOf(r)
	if which != "" && which != another {
		return webhook.Ref{InstanceID: instanceID, ID: which}, nil
	}
	found, err := p.Webhooks.Get(ctx, webhook.First(instanceID))
	if gateway.KindOf(err) != gateway.NotFound {
		return webhook.Ref{InstanceID: instanceID, ID: found.ID}, err
	}
	listed, err := p.Webhooks.List(ctx, instanceID, gateway.PageRequest{Page: 1, Limit: 1})
	if err != nil || len(listed.Items) == 0 {
		return webhook.First(instanceID), err
	}
	return webhook.Ref{InstanceID: instanceID, ID: listed.Items[0].ID}, nil
}

// webhookHead returns what pages of webhooks begin with. A webhook that the request names and
// that is not there is a gateway.NotFound.
func (p *pages) webhookHead(ctx context.Context, r *frame.Request, instanceID string) (webhookHead, error) {
	found, err := p.Instances.Get(ctx, instanceID)
	if err != nil {
		return webhookHead{}, err
	}
	head := webhookHead{instanceHead: headOf(found, "webhook", r.Visitor.Actor.Role), Owner: r.Visitor.May(gateway.RoleOwner)}
	listed, err := p.Webhooks.List(ctx, instanceID, gateway.PageRequest{Page: 1, Limit: webhook.MaxListed})
	if err != nil {
		return webhookHead{}, err
	}
	for _, one := range listed.Items {
		line := webhookLine{Webhook: head.shown(one)}
		condition, err := p.Webhooks.Condition(ctx, webhook.Ref{InstanceID: instanceID, ID: one.ID})
		if err != nil {
			return webhookHead{}, err
		}
		line.Delivery, line.Pending = deliveryState(condition), condition.Pending
		head.All = append(head.All, line)
	}
	if head.New = whichOf(r) == another; head.New {
		return head, nil
	}
	ref, err := p.refOf(ctx, r, instanceID)
	if err != nil || ref.ID == "" {
		return head, err
	}
	one, err := p.Webhooks.Get(ctx, ref)
	head.Hook = head.shown(one)
	return head, err
}

// shown returns a webhook as the visitor may see it. What follows the path of its address may be a
// secret: with it anybody sends the endpoint events. Only those see it who may change it.
func (h webhookHead) shown(hook webhook.Webhook) webhook.Webhook {
	if h.May && (hook.Account == "" || h.Owner) {
		return hook
	}
	endpoint, err := url.Parse(hook.URL)
	if err != nil {
		hook.URL = "" // it was saved by a version that took it
		return hook
	}
	hook.URL = (&url.URL{Scheme: endpoint.Scheme, Host: endpoint.Host, Path: endpoint.Path, RawPath: endpoint.RawPath}).String()
	return hook
}
