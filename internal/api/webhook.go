// Webhooks of an instance and of an account, their deliveries, tests and replays.

package api

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/webhook"
	"github.com/recado-project/recado/internal/webhook/accountwide"
)

// webhooks is the resource of the webhooks of an instance. The contract's webhook-config is the first of them.
type webhooks struct{ use *webhook.Service }

// WebhookConfig is the contract's webhook of an instance.
type WebhookConfig struct {
	ID         string             `json:"id" format:"uuid" example:"019aa1f4-1c7f-7a20-8a5e-4be2f7b0a911"`
	InstanceID string             `json:"instanceId" format:"uuid"`
	URL        string             `json:"webhookUrl" doc:"Where events are delivered." example:"https://shop.example.org/recado"`
	Secret     string             `json:"secret,omitempty" doc:"The secret that signs deliveries; left out if none is set." example:"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"`
	IsActive   bool               `json:"isActive" example:"true"`
	CreatedAt  contract.Timestamp `json:"createdAt"`
	UpdatedAt  contract.Timestamp `json:"updatedAt"`
}

func newWebhookConfig(w webhook.Webhook) WebhookConfig {
	return WebhookConfig{
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
	Format           string             `json:"format" doc:"The language in which events are posted." example:"recado"`
	IsActive         bool               `json:"isActive" example:"true"`
	CreatedAt        contract.Timestamp `json:"createdAt"`
	UpdatedAt        contract.Timestamp `json:"updatedAt"`
}

func newWebhook(w webhook.Webhook) Webhook {
	shown := Webhook{
		ID: w.ID, InstanceID: w.InstanceID, IsFirst: w.First, AccountWebhookID: contract.TextOrNil(w.Account), URL: w.URL, Secret: string(w.Secret),
		Events: textsOf(w.Filter.Kinds), Chats: textsOf(w.Filter.Chats), HeaderNames: make([]string, len(w.Headers)),
		MediaLinks: w.MediaLinks, Format: cmp.Or(w.Format, webhook.FormatRecado), IsActive: w.Active,
		CreatedAt: contract.Timestamp(w.CreatedAt), UpdatedAt: contract.Timestamp(w.UpdatedAt),
	}
	for n, header := range w.Headers {
		shown.HeaderNames[n] = header.Name
	}
	return shown
}

// webhookFor is what the key of a request may see. The secret of an account's webhook signs
// the events of all its instances, so only a key that may change the webhook sees it.
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

// textsOf never returns nil.
func textsOf[T ~string](values []T) []string {
	shown := make([]string, len(values))
	for n, value := range values {
		shown[n] = string(value)
	}
	return shown
}

type newWebhookConfigBody struct {
	URL string `json:"webhookUrl" minLength:"1" doc:"An absolute http or https URL." example:"https://shop.example.org/recado"`

	WebhookOptions
}

// WebhookOptions are what a webhook can be given beside its URL.
type WebhookOptions struct {
	Secret     *string           `json:"secret,omitempty" doc:"The secret that signs deliveries (Standard Webhooks). If left out, the current one stays." example:"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"`
	Events     *[]string         `json:"events,omitempty" maxItems:"100" doc:"The types of events that are delivered; empty: all. In place of message.sent may stand message.sent:api or message.sent:device, by the source; in place of message.poll_vote, message.poll_vote:selection for the votes with a selection, or message.poll_vote:other." example:"message.received"`
	Chats      *[]string         `json:"chats,omitempty" maxItems:"20" enum:"direct,group,channel,status" doc:"The kinds of chats whose events are delivered; empty: all. Events that belong to no chat are delivered in any case." example:"direct"`
	Headers    map[string]string `json:"headers,omitempty" doc:"Up to 20 headers that each request carries, by their names. They replace those that there are; an empty object removes them. No answer shows their values." example:"{\"Authorization\":\"Bearer 7f3a\"}"`
	MediaLinks *bool             `json:"mediaLinks,omitempty" doc:"Whether events of messages with a file have a link to it: mediaLink, beside data. The link needs no API key, works until it expires, and fetches the file from the platform when it is followed first. The gateway has to know the address that links begin with (RECADO_PUBLIC_URL), unless it listens on this machine alone." example:"true"`
	Format     *string           `json:"format,omitempty" maxLength:"64" doc:"The language in which events are posted: recado, the envelope of the events, or that of another tool. Which there are depends on the gateway." example:"recado"`
	IsActive   *bool             `json:"isActive,omitempty" doc:"Whether events are delivered." example:"true"`
}

// settings returns what the use cases take.
func (o WebhookOptions) settings(url string) webhook.Settings {
	settings := webhook.Settings{URL: url, Secret: o.Secret, Active: o.IsActive, Headers: o.Headers, MediaLinks: o.MediaLinks, Format: o.Format}
	if o.Events != nil {
		settings.Events = new(valuesOf[eventlog.Kind](*o.Events))
	}
	if o.Chats != nil {
		settings.Chats = new(valuesOf[webhook.ChatKind](*o.Chats))
	}
	return settings
}

func valuesOf[T ~string](values []string) []T {
	given := make([]T, len(values))
	for n, value := range values {
		given[n] = T(value)
	}
	return given
}

type newWebhookBody struct {
	URL string `json:"url" minLength:"1" doc:"An absolute http or https URL." example:"https://crm.example.org/recado"`

	WebhookOptions
}

type webhookChangeBody struct {
	URL *string `json:"url,omitempty" minLength:"1" doc:"An absolute http or https URL." example:"https://crm.example.org/recado"`

	WebhookOptions
}

// settings are those to change; an empty URL stays as it is.
func (b webhookChangeBody) settings() webhook.Settings {
	if b.URL == nil {
		return b.WebhookOptions.settings("")
	}
	return b.WebhookOptions.settings(*b.URL)
}

// WebhookPath is the path of a webhook.
type WebhookPath struct {
	contract.InstancePath

	WebhookID string `path:"webhookId" doc:"Identifier of the webhook." example:"019aa1f4-1c7f-7a20-8a5e-4be2f7b0a911"`
}

// ref never names the first webhook by an empty id, because no path has an empty part.
func (p WebhookPath) ref(ctx context.Context) webhook.Ref {
	return webhook.Ref{InstanceID: contract.Instance(ctx).ID, ID: p.WebhookID}
}

type changeWebhookInput struct {
	WebhookPath
	contract.JSON[webhookChangeBody]
}

func (r webhooks) saveConfig() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "saveWebhookConfig", Tag: tagEvents,
		Summary: "Save the webhook",
		Description: "A new webhook, and one that was inactive, starts with the next event. Any other continues where it is, " +
			"at once, even if it was suspended. After a change of the secret, deliveries are signed with both secrets for 24 hours. " +
			"It is the first of the webhooks of the instance, and its `id` names it there. A body without `isActive` makes it active; what else the body leaves out stays.",
	}, func(ctx context.Context, in *instanceBody[newWebhookConfigBody]) (WebhookConfig, error) {
		given := in.Given()
		return contract.Answered(newWebhookConfig)(r.use.Save(ctx, contract.Instance(ctx).ID, given.settings(given.URL)))
	})
}

func (r webhooks) getConfig() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getWebhookConfig", Tag: tagEvents,
		Summary: "Get the webhook", Description: "Returns the configuration, including the secret.",
		Codes: []string{gateway.CodeWebhookNotFound},
	}, func(ctx context.Context, _ *contract.InstancePath) (WebhookConfig, error) {
		return contract.Answered(newWebhookConfig)(r.use.Get(ctx, webhook.First(contract.Instance(ctx).ID)))
	})
}

// eventsStay is what the deletion of a webhook leaves.
const eventsStay = "Events are still recorded and can be read as a stream."

func (r webhooks) deleteConfig() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "deleteWebhookConfig", Tag: tagEvents,
		Summary: "Delete the webhook", Description: eventsStay,
		Codes: []string{gateway.CodeWebhookNotFound},
	}, func(ctx context.Context, _ *contract.InstancePath) (contract.Empty, error) {
		return contract.Empty{}, r.use.Delete(ctx, webhook.First(contract.Instance(ctx).ID))
	})
}

func (r webhooks) create() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "createWebhook", Tag: tagEvents, Status: http.StatusCreated,
		Summary: "Create one more webhook",
		Description: "Another destination of the instance's events, with an order, retries and dead letters of its own. It starts with the next event. " +
			"An instance has up to ten beside the one of webhook-config.",
		Codes: []string{gateway.CodeWebhookLimit},
	}, func(ctx context.Context, in *instanceBody[newWebhookBody]) (Webhook, error) {
		given := in.Given()
		return contract.Answered(webhookFor(ctx))(r.use.Create(ctx, contract.Instance(ctx).ID, given.settings(given.URL)))
	})
}

func (r webhooks) list() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "listWebhooks", Tag: tagEvents,
		Summary: "List the webhooks", Description: "Lists all webhooks of the instance, oldest first, that of webhook-config among them.",
		Codes: []string{gateway.CodeValidation},
	}, func(ctx context.Context, in *instanceList) (contract.Envelope[Webhook], error) {
		return contract.Listed(in.Paging, webhookFor(ctx))(r.use.List(ctx, contract.Instance(ctx).ID, in.Request()))
	})
}

func (r webhooks) get() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getWebhook", Tag: tagEvents,
		Summary: "Get one of the webhooks", Description: "Returns the configuration, including the secret, but no value of a header.",
		Codes: []string{gateway.CodeWebhookNotFound},
	}, func(ctx context.Context, in *WebhookPath) (Webhook, error) {
		return contract.Answered(webhookFor(ctx))(r.use.Get(ctx, in.ref(ctx)))
	})
}

func (r webhooks) change() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "changeWebhook", Tag: tagEvents,
		Summary: "Change one of the webhooks",
		Description: "What is left out stays. A webhook that was inactive starts with the next event; any other continues where it is, at once, " +
			"even if it was suspended. Other events and chats count for all events that were not delivered yet.",
		Codes: []string{gateway.CodeWebhookNotFound, gateway.CodeWebhookOfAccount},
	}, func(ctx context.Context, in *changeWebhookInput) (Webhook, error) {
		return contract.Answered(webhookFor(ctx))(r.use.Change(ctx, in.ref(ctx), in.Given().settings()))
	})
}

func (r webhooks) delete() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "deleteWebhook", Tag: tagEvents,
		Summary: "Delete one of the webhooks", Description: eventsStay,
		Codes: []string{gateway.CodeWebhookNotFound, gateway.CodeWebhookOfAccount},
	}, func(ctx context.Context, in *WebhookPath) (contract.Empty, error) {
		return contract.Empty{}, r.use.Delete(ctx, in.ref(ctx))
	})
}

// Delivery is an attempt to deliver an event, or an event that is blocked or was given
// up.
type Delivery struct {
	State      string              `json:"state" enum:"blocked,dead_letter,delivered,failed" doc:"blocked: an event that fails while others succeed, so that the events of its chat wait; dead_letter: an event that was given up; delivered, failed: an attempt." example:"delivered"`
	EventID    string              `json:"eventId" doc:"The event's id: the webhook-id of its delivery." example:"019aa1f4-5b0c-7e43-9d1f-6a1f2f6f3b11"`
	Sequence   int64               `json:"sequence" example:"42"`
	Type       string              `json:"type" example:"message.received"`
	Chat       string              `json:"chat" doc:"The chat within which the event keeps its order; empty if it belongs to none." example:"123456789012345@lid"`
	Timestamp  contract.Timestamp  `json:"timestamp" doc:"When the attempt was made, when the event was given up, or since when the chat waits."`
	Status     *int                `json:"status" nullable:"true" doc:"HTTP status of the last answer; null if there was none." example:"204"`
	Error      *string             `json:"error" nullable:"true" doc:"Why the attempt failed." example:"connection refused"`
	DurationMs *int64              `json:"durationMs" nullable:"true" doc:"How long an attempt took." example:"12"`
	Body       *string             `json:"body" nullable:"true" doc:"For an attempt: the beginning of the answer." example:"ok"`
	Failures   *int                `json:"failures" nullable:"true" doc:"For a blocked event: how often it failed. For the newest attempt, while the endpoint waits: how many attempts failed in a row." example:"2"`
	NextTry    *contract.Timestamp `json:"nextTry" nullable:"true" doc:"When the next attempt is made: for a blocked event, and for the newest attempt while the endpoint waits."`
}

// DeliveryPage is the answer of the list of deliveries.
type DeliveryPage struct {
	contract.Envelope[Delivery]

	Delivery DeliveryState `json:"delivery" doc:"The current state of the delivery."`
}

// DeliveryState is the current state of the delivery to a webhook.
type DeliveryState struct {
	State           string              `json:"state" enum:"flowing,waiting,suspended,inactive" doc:"flowing: events are delivered; waiting: the endpoint failed and will be tried again; suspended: it is not tried until the webhook is saved or resumed; inactive: the webhook gets no events." example:"flowing"`
	Until           *contract.Timestamp `json:"until" nullable:"true" doc:"While waiting: when the endpoint is tried again." sample:"-"`
	Since           *contract.Timestamp `json:"since" nullable:"true" doc:"While waiting or suspended: since when the endpoint has been failing." sample:"-"`
	Reason          *string             `json:"reason" nullable:"true" doc:"While waiting: why the last attempt failed. While suspended: gone, if the endpoint answered 410; unreachable, if no attempt succeeded for too long."`
	PendingEvents   int64               `json:"pendingEvents" doc:"Events that are still to be delivered. A blocked chat counts only with its first event." example:"0"`
	OldestPendingAt *contract.Timestamp `json:"oldestPendingAt" nullable:"true" doc:"When the oldest pending event happened." sample:"-"`
}

func newDeliveryCondition(c webhook.Condition) DeliveryState {
	return DeliveryState{
		State: string(c.Flow), Until: contract.TimestampOrNil(c.Until), Since: contract.TimestampOrNil(c.Since), Reason: contract.TextOrNil(c.Reason),
		PendingEvents: c.Pending, OldestPendingAt: contract.TimestampOrNil(c.OldestPendingAt),
	}
}

func newDelivery(d webhook.Delivery) Delivery {
	shown := Delivery{
		State: string(d.State), EventID: d.EventID, Sequence: d.Sequence, Type: string(d.Kind), Chat: string(d.Chat),
		Timestamp: contract.Timestamp(d.At), Error: contract.TextOrNil(d.Error), NextTry: contract.TimestampOrNil(d.NextTry),
	}
	if d.Status != 0 {
		shown.Status = &d.Status
	}
	switch d.State {
	case webhook.DeliveryDone, webhook.DeliveryFailed:
		shown.DurationMs, shown.Body = new(d.Duration.Milliseconds()), contract.TextOrNil(d.Answer)
		if d.Failures > 0 {
			shown.Failures = &d.Failures
		}
	case webhook.DeliveryBlocked:
		shown.Failures = &d.Failures
	case webhook.DeliveryDeadLetter:
	}
	return shown
}

type deliveriesInput struct {
	WebhookPath
	contract.Paging
}

type replayBody struct {
	FromSequence *int64     `json:"fromSequence,omitempty" minimum:"1" maximum:"9007199254740991" doc:"The first event to deliver again." example:"42"`
	Since        *time.Time `json:"since,omitempty" doc:"Deliver again the events recorded since then." example:"2026-11-20T14:00:00Z"`
}

type replayInput struct {
	WebhookPath
	contract.JSON[replayBody]
}

// Replayed is the answer to a replay.
type Replayed struct {
	FromSequence int64 `json:"fromSequence" doc:"The first event that is delivered again." example:"42"`
	Events       int64 `json:"events" doc:"How many events are delivered again, those counted that the webhook leaves out." example:"7"`
}

// WebhookTest is the answer of an endpoint to a test event.
type WebhookTest struct {
	Status     *int    `json:"status" nullable:"true" doc:"HTTP status of the answer; null if there was none." example:"204"`
	DurationMs int64   `json:"durationMs" example:"12"`
	Body       string  `json:"body" doc:"The beginning of the answer, at most 4 KiB." example:""`
	Error      *string `json:"error" nullable:"true" doc:"Why the test failed; null if the endpoint accepted the event." example:"connection refused"`
}

func (r webhooks) deliveries() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "listWebhookDeliveries", Tag: tagEvents, Summary: "List the deliveries of one of the webhooks",
		Description: "Lists the events that wait, the events that were given up, and up to a hundred recent attempts: in this order, each newest first. " +
			"When there are many attempts per second, only some of them are kept. `delivery` is the current state of the delivery.",
		Codes: []string{gateway.CodeValidation, gateway.CodeWebhookNotFound},
	}, func(ctx context.Context, in *deliveriesInput) (DeliveryPage, error) {
		page, err := r.use.Deliveries(ctx, in.ref(ctx), in.Request())
		if err != nil {
			return DeliveryPage{}, err
		}
		condition, err := r.use.Condition(ctx, in.ref(ctx))
		if err != nil {
			return DeliveryPage{}, err
		}
		return DeliveryPage{
			Envelope: contract.NewEnvelope(in.Paging, page, newDelivery), Delivery: newDeliveryCondition(condition),
		}, nil
	})
}

func (r webhooks) replay() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "replayWebhook", Tag: tagEvents, Summary: "Replay events to one of the webhooks",
		Description: "Delivers past events again, with the same ids, starting at a sequence or a time. " +
			"Events that retention has removed are skipped. The webhooks of an instance can be replayed once a minute; the first six replays may follow each other at once.",
		Codes: []string{gateway.CodeWebhookInactive, gateway.CodeWebhookNotFound},
	}, func(ctx context.Context, in *replayInput) (Replayed, error) {
		given := in.Given()
		if (given.FromSequence == nil) == (given.Since == nil) {
			return Replayed{}, gateway.InvalidFields(
				gateway.FieldError{Field: "fromSequence", Message: "or since must be given, but not both"},
			)
		}
		var from webhook.From
		if given.FromSequence != nil {
			from.Sequence = *given.FromSequence
		} else {
			from.Since = *given.Since
		}
		return contract.Answered(newWebhookReplay)(r.use.Replay(ctx, in.ref(ctx), from))
	})
}

func newWebhookReplay(replayed webhook.Replayed) Replayed {
	return Replayed{FromSequence: replayed.FromSequence, Events: replayed.Events}
}

func (r webhooks) resume() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "resumeWebhook", Tag: tagEvents, Summary: "Resume one of the webhooks",
		Description: "Tries the endpoint again at once, if the webhook is suspended or waits after failures.",
		Codes:       []string{gateway.CodeWebhookNotFound},
	}, func(ctx context.Context, in *WebhookPath) (contract.Empty, error) {
		return contract.Empty{}, r.use.Resume(ctx, in.ref(ctx))
	})
}

func (r webhooks) test() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "testWebhook", Tag: tagEvents, Summary: "Test one of the webhooks",
		Description: "Sends one webhook.test event now, signed like any other, and returns the endpoint's answer. " +
			"The event is not recorded; its sequence is 0.",
		Codes: []string{gateway.CodeWebhookNotFound},
	}, func(ctx context.Context, in *WebhookPath) (WebhookTest, error) {
		return contract.Answered(newWebhookTest)(r.use.Test(ctx, in.ref(ctx)))
	})
}

func newWebhookTest(tested webhook.Result) WebhookTest {
	shown := WebhookTest{DurationMs: tested.Duration.Milliseconds(), Body: tested.Answer, Error: contract.TextOrNil(tested.Error)}
	if tested.Status != 0 {
		shown.Status = &tested.Status
	}
	return shown
}

// AccountWebhook is a destination of the events of all instances of an account.
type AccountWebhook struct {
	ID          string             `json:"id" format:"uuid" example:"019aa1f4-1c7f-7a20-8a5e-4be2f7b0a911"`
	URL         string             `json:"url" doc:"Where events are delivered." example:"https://desk.example.org/recado"`
	Secret      string             `json:"secret,omitempty" doc:"The secret that signs deliveries; left out if none is set." example:"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"`
	Events      []string           `json:"events" nullable:"false" doc:"The types of events that are delivered; empty: all." example:"message.received"`
	Chats       []string           `json:"chats" nullable:"false" enum:"direct,group,channel,status" doc:"The kinds of chats whose events are delivered; empty: all." example:"direct"`
	HeaderNames []string           `json:"headerNames" nullable:"false" doc:"The names of the webhook's own headers. Their values are never shown." example:"Authorization"`
	MediaLinks  bool               `json:"mediaLinks" doc:"Whether events of messages with a file have a link to it." example:"false"`
	Format      string             `json:"format" doc:"The language in which events are posted." example:"recado"`
	IsActive    bool               `json:"isActive" example:"true"`
	CreatedAt   contract.Timestamp `json:"createdAt"`
	UpdatedAt   contract.Timestamp `json:"updatedAt"`
}

func newAccountWebhook(w accountwide.Webhook) AccountWebhook {
	shown := newWebhook(w.Webhook)
	return AccountWebhook{
		ID: shown.ID, URL: shown.URL, Secret: shown.Secret, Events: shown.Events, Chats: shown.Chats, HeaderNames: shown.HeaderNames,
		MediaLinks: shown.MediaLinks, Format: shown.Format, IsActive: shown.IsActive, CreatedAt: shown.CreatedAt, UpdatedAt: shown.UpdatedAt,
	}
}

// AccountWebhookPath names a webhook of an account.
type AccountWebhookPath struct {
	WebhookID string `path:"webhookId" doc:"Identifier of the webhook." example:"019aa1f4-1c7f-7a20-8a5e-4be2f7b0a911"`
}

type changeAccountWebhookInput struct {
	AccountWebhookPath
	contract.JSON[webhookChangeBody]
}

// accountWebhooks is the resource of the webhooks of an account.
type accountWebhooks struct{ use *accountwide.Service }

// ofAccount makes the endpoint of an operation on what the account of the request's key has for all its
// instances. A key for certain ones must not hear the others.
func ofAccount[I, T any](op contract.Operation, handle func(ctx context.Context, accountID string, in *I) (T, error)) contract.Endpoint {
	op.Tag, op.Audience, op.Codes = tagEvents, contract.Partners, append([]string{gateway.CodeForbidden}, op.Codes...)
	return contract.Handle(op, func(ctx context.Context, in *I) (answer T, _ error) {
		if err := needsWholeAccount(ctx); err != nil {
			return answer, err
		}
		return handle(ctx, contract.Key(ctx).AccountID, in)
	})
}

func (a accountWebhooks) create() contract.Endpoint {
	return ofAccount(contract.Operation{
		ID: "createAccountWebhook", Summary: "Create a webhook for all instances", Status: http.StatusCreated,
		Description: "Every instance of the account, those that are created later too, delivers the events to it that happen from now on: each with an order, retries and dead letters of its own. " +
			"The webhook is in the list of the webhooks of each instance, where its deliveries are. It takes a few seconds until all instances follow; no event is lost meanwhile.",
		Codes: []string{gateway.CodeWebhookLimit},
	}, func(ctx context.Context, id string, in *contract.JSON[newWebhookBody]) (AccountWebhook, error) {
		given := in.Given()
		return contract.Answered(newAccountWebhook)(a.use.Create(ctx, id, given.settings(given.URL)))
	})
}

func (a accountWebhooks) list() contract.Endpoint {
	return ofAccount(contract.Operation{
		ID: "listAccountWebhooks", Summary: "List the webhooks for all instances", Description: "Oldest first.",
		Codes: []string{gateway.CodeValidation},
	}, func(ctx context.Context, id string, in *contract.Paging) (contract.Envelope[AccountWebhook], error) {
		return contract.Listed(*in, newAccountWebhook)(a.use.List(ctx, id, in.Request()))
	})
}

func (a accountWebhooks) get() contract.Endpoint {
	return ofAccount(contract.Operation{
		ID: "getAccountWebhook", Summary: "Get a webhook for all instances", Description: "Returns the configuration, including the secret, but no value of a header.",
		Codes: []string{gateway.CodeWebhookNotFound},
	}, func(ctx context.Context, id string, in *AccountWebhookPath) (AccountWebhook, error) {
		return contract.Answered(newAccountWebhook)(a.use.Get(ctx, id, in.WebhookID))
	})
}

func (a accountWebhooks) change() contract.Endpoint {
	return ofAccount(contract.Operation{
		ID: "changeAccountWebhook", Summary: "Change a webhook for all instances", Description: "What is left out stays. All instances follow within a few seconds.",
		Codes: []string{gateway.CodeWebhookNotFound},
	}, func(ctx context.Context, id string, in *changeAccountWebhookInput) (AccountWebhook, error) {
		return contract.Answered(newAccountWebhook)(a.use.Change(ctx, id, in.WebhookID, in.Given().settings()))
	})
}

func (a accountWebhooks) delete() contract.Endpoint {
	return ofAccount(contract.Operation{
		ID: "deleteAccountWebhook", Summary: "Delete a webhook for all instances",
		Description: "Events are still recorded and can be read as streams. What is known of its deliveries goes with it.",
		Codes:       []string{gateway.CodeWebhookNotFound},
	}, func(ctx context.Context, id string, in *AccountWebhookPath) (contract.Empty, error) {
		return contract.Empty{}, a.use.Delete(ctx, id, in.WebhookID)
	})
}

// AppSecret says whether an account has an app secret, which no answer contains.
type AppSecret struct {
	Set   bool                `json:"set" doc:"Whether there is one." example:"true"`
	Since *contract.Timestamp `json:"since" nullable:"true" doc:"When it was set; null: there is none."`
}

func newAppSecret(since time.Time) AppSecret {
	return AppSecret{Set: !since.IsZero(), Since: contract.TimestampOrNil(since)}
}

type newAppSecretBody struct {
	AppSecret string `json:"appSecret" minLength:"1" maxLength:"512" doc:"The secret, as the settings of the other program have it." example:"7f3a5c1e9b2d4f6a8c0e1b3d5f7a9c2e"`
}

// appSecrets is the resource of the app secret of an account.
type appSecrets struct{ use *access.Service }

func (a appSecrets) get() contract.Endpoint {
	return ofAccount(contract.Operation{
		ID: "getAppSecret", Summary: "Look whether there is an app secret", Description: "Says since when there is one, but not what it is.",
	}, func(ctx context.Context, id string, _ *struct{}) (AppSecret, error) {
		return contract.Answered(newAppSecret)(a.use.AppSecretSince(ctx, id))
	})
}

func (a appSecrets) set() contract.Endpoint {
	return ofAccount(contract.Operation{
		ID: "setAppSecret", Summary: "Set the app secret",
		Description: "Deliveries of webhooks with the format cloud have `X-Hub-Signature-256` with it, unless the webhook has a secret of its own. " +
			"It counts from the next delivery on, and takes the place of the one before. No answer contains it.",
	}, func(ctx context.Context, id string, in *contract.JSON[newAppSecretBody]) (AppSecret, error) {
		return contract.Answered(newAppSecret)(a.use.SetAppSecret(ctx, id, in.Given().AppSecret))
	})
}

func (a appSecrets) delete() contract.Endpoint {
	return ofAccount(contract.Operation{
		ID: "deleteAppSecret", Summary: "Remove the app secret",
		Description: "Deliveries of webhooks with the format cloud that have no secret of their own are no longer signed. One that is not there is no error.",
	}, func(ctx context.Context, id string, _ *struct{}) (contract.Empty, error) {
		return contract.Empty{}, a.use.DeleteAppSecret(ctx, id)
	})
}
