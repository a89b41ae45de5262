// Package webhooks is the operations on the webhooks of an instance: the contract's one, called
// webhook-config, and all of them, that one included. The table of routes of package api
// says where they are.
package webhooks

import (
	"context"
	"net/http"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/webhook"
)

// UseCases are the use cases of webhooks.
type UseCases interface {
	Settings
	Deliveries
}

// Settings are the use cases of configurations. They are more than five, because a webhook is
// both saved as the contract has it and created and changed as the others are.
type Settings interface {
	Save(ctx context.Context, instanceID string, settings webhook.Settings) (webhook.Webhook, error)
	Create(ctx context.Context, instanceID string, settings webhook.Settings) (webhook.Webhook, error)
	Change(ctx context.Context, ref webhook.Ref, settings webhook.Settings) (webhook.Webhook, error)
	Get(ctx context.Context, ref webhook.Ref) (webhook.Webhook, error)
	List(ctx context.Context, instanceID string, page gateway.PageRequest) (gateway.Page[webhook.Webhook], error)
	Delete(ctx context.Context, ref webhook.Ref) error
}

// Resource is the operations on one webhook that both kinds of paths have, and either those of
// webhook-config or those of all webhooks.
type Resource struct{ use UseCases }

// New makes the operations on the use cases.
func New(use UseCases) Resource { return Resource{use} }

// Config is the contract's webhook of an instance.
type Config struct {
	ID         string             `json:"id" format:"uuid" example:"019aa1f4-1c7f-7a20-8a5e-4be2f7b0a911"`
	InstanceID string             `json:"instanceId" format:"uuid"`
	URL        string             `json:"webhookUrl" doc:"Where events are delivered." example:"https://shop.example.org/recado"`
	Secret     string             `json:"secret,omitempty" doc:"The secret that signs deliveries; left out if none is set." example:"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"`
	IsActive   bool               `json:"isActive" example:"true"`
	CreatedAt  contract.Timestamp `json:"createdAt"`
	UpdatedAt  contract.Timestamp `json:"updatedAt"`
}

func newConfig(w webhook.Webhook) Config {
	return Config{
		ID: w.ID, InstanceID: w.InstanceID, URL: w.URL, Secret: string(w.Secret), IsActive: w.Active,
		CreatedAt: contract.Timestamp(w.CreatedAt), UpdatedAt: contract.Timestamp(w.UpdatedAt),
	}
}

// Webhook is one destination of the events of an instance.
type Webhook struct {
	ID               string             `json:"id" format:"uuid" example:"019aa1f4-1c7f-7a20-8a5e-4be2f7b0a911"`
	InstanceID       string             `json:"instanceId" format:"uuid"`
	AccountWebhookID *string            `json:"accountWebhookId" nullable:"true" doc:"The webhook of the account that it follows, and that alone can be changed; null if it has its own settings." sample:"-"`
	IsFirst          bool               `json:"isFirst" doc:"Whether it is the one of webhook-config." example:"false"`
	URL              string             `json:"url" doc:"Where events are delivered." example:"https://crm.example.org/recado"`
	Secret           string             `json:"secret,omitempty" doc:"The secret that signs deliveries; left out if none is set, and where accountWebhookId is set, unless the key is a partner key for the whole account." example:"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"`
	Events           []string           `json:"events" nullable:"false" doc:"The types of events that are delivered; empty: all." example:"message.received"`
	Chats            []string           `json:"chats" nullable:"false" enum:"direct,group,channel,status" doc:"The kinds of chats whose events are delivered; empty: all. Events that belong to no chat are delivered in any case." example:"direct"`
	HeaderNames      []string           `json:"headerNames" nullable:"false" doc:"The names of the webhook's own headers. Their values are never shown." example:"Authorization"`
	MediaLinks       bool               `json:"mediaLinks" doc:"Whether events of messages with a file have a link to it: mediaLink, beside data." example:"false"`
	IsActive         bool               `json:"isActive" example:"true"`
	CreatedAt        contract.Timestamp `json:"createdAt"`
	UpdatedAt        contract.Timestamp `json:"updatedAt"`
}

func newWebhook(w webhook.Webhook) Webhook {
	shown := Webhook{
		ID: w.ID, InstanceID: w.InstanceID, IsFirst: w.First, AccountWebhookID: contract.TextOrNil(w.Account), URL: w.URL, Secret: string(w.Secret),
		Events: texts(w.Filter.Kinds), Chats: texts(w.Filter.Chats), HeaderNames: make([]string, len(w.Headers)),
		MediaLinks: w.MediaLinks, IsActive: w.Active,
		CreatedAt: contract.Timestamp(w.CreatedAt), UpdatedAt: contract.Timestamp(w.UpdatedAt),
	}
	for n, header := range w.Headers {
		shown.HeaderNames[n] = header.Name
	}
	return shown
}

// webhookFor is what the key of a request may see. Whoever has the secret of an account's webhook
// signs events of all its instances, so that only those see it who may change it.
func webhookFor(ctx context.Context) func(w webhook.Webhook) Webhook {
	key := contract.Key(ctx)
	return func(w webhook.Webhook) Webhook {
		shown := newWebhook(w)
		if w.Account != "" && (!key.Partner || len(key.InstanceIDs) > 0) {
			shown.Secret = ""
		}
		return shown
	}
}

// texts never returns nil.
func texts[T ~string](values []T) []string {
	shown := make([]string, len(values))
	for n, value := range values {
		shown[n] = string(value)
	}
	return shown
}

type configBody struct {
	URL      string  `json:"webhookUrl" minLength:"1" doc:"An absolute http or https URL." example:"https://shop.example.org/recado"`
	Secret   *string `json:"secret,omitempty" doc:"The secret that signs deliveries (Standard Webhooks). If left out, the current one stays." example:"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"`
	IsActive *bool   `json:"isActive,omitempty" doc:"Whether events are delivered. If left out: true." example:"true"`
}

// Options are what a webhook can be given beside its URL.
type Options struct {
	Secret     *string           `json:"secret,omitempty" doc:"The secret that signs deliveries (Standard Webhooks). If left out, the current one stays." example:"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"`
	Events     *[]string         `json:"events,omitempty" maxItems:"100" doc:"The types of events that are delivered; empty: all." example:"message.received"`
	Chats      *[]string         `json:"chats,omitempty" maxItems:"20" enum:"direct,group,channel,status" doc:"The kinds of chats whose events are delivered; empty: all. Events that belong to no chat are delivered in any case." example:"direct"`
	Headers    map[string]string `json:"headers,omitempty" doc:"Up to 20 headers that each request carries, by their names. They replace those that there are; an empty object removes them. No answer shows their values." example:"{\"Authorization\":\"Bearer 7f3a\"}"`
	MediaLinks *bool             `json:"mediaLinks,omitempty" doc:"Whether events of messages with a file have a link to it: mediaLink, beside data. The link needs no API key, works until it expires, and fetches the file from the platform when it is followed first. The gateway has to know the address that links begin with (RECADO_PUBLIC_URL), unless it listens on this machine alone." example:"true"`
	IsActive   *bool             `json:"isActive,omitempty" doc:"Whether events are delivered." example:"true"`
}

// settings returns what the use cases take.
func (o Options) settings(url string) webhook.Settings {
	settings := webhook.Settings{URL: url, Secret: o.Secret, Active: o.IsActive, Headers: o.Headers, MediaLinks: o.MediaLinks}
	if o.Events != nil {
		settings.Events = new(named[eventlog.Kind](*o.Events))
	}
	if o.Chats != nil {
		settings.Chats = new(named[webhook.ChatKind](*o.Chats))
	}
	return settings
}

func named[T ~string](values []string) []T {
	given := make([]T, len(values))
	for n, value := range values {
		given[n] = T(value)
	}
	return given
}

type newBody struct {
	URL string `json:"url" minLength:"1" doc:"An absolute http or https URL." example:"https://crm.example.org/recado"`

	Options
}

type changeWebhookBody struct {
	URL *string `json:"url,omitempty" minLength:"1" doc:"An absolute http or https URL." example:"https://crm.example.org/recado"`

	Options
}

// place is the part of a path that names a webhook.
type place interface {
	ref(ctx context.Context) webhook.Ref
}

// FirstPath names the webhook of webhook-config.
type FirstPath struct{ contract.InstancePath }

func (FirstPath) ref(ctx context.Context) webhook.Ref {
	return webhook.First(contract.Instance(ctx).ID)
}

// OnePath names any webhook.
type OnePath struct {
	contract.InstancePath

	WebhookID string `path:"webhookId" doc:"Identifier of the webhook." example:"019aa1f4-1c7f-7a20-8a5e-4be2f7b0a911"`
}

// ref never names the first webhook by an empty id, because no path has an empty part.
func (p OnePath) ref(ctx context.Context) webhook.Ref {
	return webhook.Ref{InstanceID: contract.Instance(ctx).ID, ID: p.WebhookID}
}

type saveInput struct {
	contract.InstancePath
	contract.JSON[configBody]
}

type createInput struct {
	contract.InstancePath
	contract.JSON[newBody]
}

type changeInput struct {
	OnePath
	contract.JSON[changeWebhookBody]
}

type listInput struct {
	contract.InstancePath
	contract.Paging
}

// SaveConfig is the contract's POST webhook-config.
func (r Resource) SaveConfig() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "saveWebhook", Tag: contract.EventsTag,
		Summary: "Create or update the webhook",
		Description: "A new webhook, and one that was inactive, starts with the next event. Any other continues where it is, " +
			"at once, even if it was suspended. After a change of the secret, deliveries are signed with both secrets for 24 hours. " +
			"It is the first of the webhooks of the instance; its events, chats, headers and media links stay as they were set there.",
	}, func(ctx context.Context, in *saveInput) (*contract.Answer[Config], error) {
		given := in.Given()
		saved, err := r.use.Save(ctx, contract.Instance(ctx).ID, webhook.Settings{
			URL: given.URL, Secret: given.Secret, Active: given.IsActive,
		})
		if err != nil {
			return nil, err
		}
		return &contract.Answer[Config]{Body: newConfig(saved)}, nil
	})
}

// GetConfig is the contract's GET webhook-config.
func (r Resource) GetConfig() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getWebhook", Tag: contract.EventsTag,
		Summary: "Get the webhook", Description: "Returns the configuration, including the secret.",
		Codes: []string{gateway.CodeWebhookNotFound},
	}, func(ctx context.Context, in *FirstPath) (*contract.Answer[Config], error) {
		found, err := r.use.Get(ctx, in.ref(ctx))
		if err != nil {
			return nil, err
		}
		return &contract.Answer[Config]{Body: newConfig(found)}, nil
	})
}

// DeleteConfig is the contract's DELETE webhook-config.
func (r Resource) DeleteConfig() contract.Endpoint {
	return remove[FirstPath](r, "deleteWebhook", "Delete the webhook")
}

// Create is POST webhooks.
func (r Resource) Create() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "createWebhook", Tag: contract.EventsTag, Status: http.StatusCreated,
		Summary: "Create one more webhook",
		Description: "Another destination of the instance's events, with an order, retries and dead letters of its own. It starts with the next event. " +
			"An instance has up to ten beside the one of webhook-config.",
		Codes: []string{gateway.CodeWebhookLimit},
	}, func(ctx context.Context, in *createInput) (*contract.Answer[Webhook], error) {
		given := in.Given()
		made, err := r.use.Create(ctx, contract.Instance(ctx).ID, given.settings(given.URL))
		if err != nil {
			return nil, err
		}
		return &contract.Answer[Webhook]{Body: webhookFor(ctx)(made)}, nil
	})
}

// List is GET webhooks.
func (r Resource) List() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "listWebhooks", Tag: contract.EventsTag,
		Summary: "List the webhooks", Description: "Lists all webhooks of the instance, oldest first, that of webhook-config among them.",
		Codes: []string{gateway.CodeValidation},
	}, func(ctx context.Context, in *listInput) (*contract.Answer[contract.Envelope[Webhook]], error) {
		page, err := r.use.List(ctx, contract.Instance(ctx).ID, in.Request())
		if err != nil {
			return nil, err
		}
		return &contract.Answer[contract.Envelope[Webhook]]{Body: contract.NewEnvelope(in.Paging, page, webhookFor(ctx))}, nil
	})
}

// Get is GET webhooks/{webhookId}.
func (r Resource) Get() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getOneWebhook", Tag: contract.EventsTag,
		Summary: "Get one of the webhooks", Description: "Returns the configuration, including the secret, but no value of a header.",
		Codes: []string{gateway.CodeWebhookNotFound},
	}, func(ctx context.Context, in *OnePath) (*contract.Answer[Webhook], error) {
		found, err := r.use.Get(ctx, in.ref(ctx))
		if err != nil {
			return nil, err
		}
		return &contract.Answer[Webhook]{Body: webhookFor(ctx)(found)}, nil
	})
}

// Change is PATCH webhooks/{webhookId}.
func (r Resource) Change() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "changeWebhook", Tag: contract.EventsTag,
		Summary: "Change one of the webhooks",
		Description: "What is left out stays. A webhook that was inactive starts with the next event; any other continues where it is, at once, " +
			"even if it was suspended. Other events and chats count for all events that were not delivered yet.",
		Codes: []string{gateway.CodeWebhookNotFound, gateway.CodeWebhookOfAccount},
	}, func(ctx context.Context, in *changeInput) (*contract.Answer[Webhook], error) {
		given := in.Given()
		var url string
		if given.URL != nil {
			url = *given.URL
		}
		changed, err := r.use.Change(ctx, in.ref(ctx), given.settings(url))
		if err != nil {
			return nil, err
		}
		return &contract.Answer[Webhook]{Body: webhookFor(ctx)(changed)}, nil
	})
}

// Delete is DELETE webhooks/{webhookId}.
func (r Resource) Delete() contract.Endpoint {
	return remove[OnePath](r, "deleteOneWebhook", "Delete one of the webhooks", gateway.CodeWebhookOfAccount)
}

func remove[P place](r Resource, id, summary string, codes ...string) contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: id, Tag: contract.EventsTag,
		Summary: summary, Description: "Events are still recorded and can be read as a stream.",
		Codes: append(codes, gateway.CodeWebhookNotFound),
	}, func(ctx context.Context, in *P) (*contract.Nothing, error) {
		return &contract.Nothing{}, r.use.Delete(ctx, (*in).ref(ctx))
	})
}
