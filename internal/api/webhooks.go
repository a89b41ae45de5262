package api

import (
	"context"
	"net/http"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/webhook"
)

// Webhooks are the use cases of webhooks.
type Webhooks interface {
	Save(ctx context.Context, instanceID string, settings webhook.Settings) (webhook.Webhook, error)
	Get(ctx context.Context, instanceID string) (webhook.Webhook, error)
	Delete(ctx context.Context, instanceID string) error
	Resume(ctx context.Context, instanceID string) error
	Replay(ctx context.Context, instanceID string, from webhook.From) (webhook.Replayed, error)
	Test(ctx context.Context, instanceID string) (webhook.TestResult, error)
	Deliveries(ctx context.Context, instanceID string, page gateway.PageRequest) (gateway.Page[webhook.Delivery], error)
	Condition(ctx context.Context, instanceID string) (webhook.Condition, error)
}

// Webhook is the configuration of an instance's webhook.
type Webhook struct {
	ID         string    `json:"id" format:"uuid" example:"019aa1f4-1c7f-7a20-8a5e-4be2f7b0a911"`
	InstanceID string    `json:"instanceId" format:"uuid"`
	URL        string    `json:"webhookUrl" doc:"Where events are delivered." example:"https://shop.example.org/recado"`
	Secret     string    `json:"secret,omitempty" doc:"What signatures are made with; left out where none is set." example:"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"`
	IsActive   bool      `json:"isActive" example:"true"`
	CreatedAt  Timestamp `json:"createdAt"`
	UpdatedAt  Timestamp `json:"updatedAt"`
}

func newWebhook(w webhook.Webhook) Webhook {
	return Webhook{
		ID: w.ID, InstanceID: w.InstanceID, URL: w.URL, Secret: string(w.Secret), IsActive: w.Active,
		CreatedAt: Timestamp(w.CreatedAt), UpdatedAt: Timestamp(w.UpdatedAt),
	}
}

type webhookBody struct {
	URL      string  `json:"webhookUrl" minLength:"1" doc:"An absolute http or https URL." example:"https://shop.example.org/recado"`
	Secret   *string `json:"secret,omitempty" doc:"Signs deliveries, after Standard Webhooks; left out, the one that is set stays." example:"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"`
	IsActive *bool   `json:"isActive,omitempty" doc:"Whether events are delivered; left out: true." example:"true"`
}

type saveWebhookInput struct {
	InstancePath
	JSON[webhookBody]
}

// Delivery is one line of what became of events.
type Delivery struct {
	State      string     `json:"state" enum:"blocked,dead_letter,delivered,failed" doc:"blocked: an event that fails while others succeed, so that its chat waits; dead_letter: an event that was given up; delivered, failed: an attempt." example:"delivered"`
	EventID    string     `json:"eventId" doc:"The webhook-id of the delivery." example:"019aa1f4-5b0c-7e43-9d1f-6a1f2f6f3b11"`
	Sequence   int64      `json:"sequence" example:"42"`
	Type       string     `json:"type" example:"message.received"`
	Chat       string     `json:"chat" doc:"What the event's order belongs to: a chat, or nothing." example:"123456789012345@lid"`
	Timestamp  Timestamp  `json:"timestamp" doc:"When the attempt was made, the event was given up, or since when the chat waits."`
	Status     *int       `json:"status" nullable:"true" doc:"Of the last answer; null where there was none." example:"204"`
	Error      *string    `json:"error" nullable:"true" doc:"Why it failed." example:"connection refused"`
	DurationMs *int64     `json:"durationMs" nullable:"true" doc:"Of an attempt." example:"12"`
	Body       *string    `json:"body" nullable:"true" doc:"Of an attempt: the beginning of the answer." example:"ok"`
	Failures   *int       `json:"failures" nullable:"true" doc:"Of a blocked event: how often it failed; of the newest attempt while the endpoint waits: how often that failed in a row." example:"2"`
	NextTry    *Timestamp `json:"nextTry" nullable:"true" doc:"Of a blocked event, and of the newest attempt while the endpoint waits."`
}

// DeliveryList is the answer of the list of deliveries.
type DeliveryList struct {
	Envelope[Delivery]

	Delivery DeliveryCondition `json:"delivery" doc:"How the delivery is doing now."`
}

// DeliveryCondition is how the delivery of a webhook is doing.
type DeliveryCondition struct {
	State           string     `json:"state" enum:"flowing,waiting,suspended,inactive" doc:"flowing: events are delivered; waiting: the endpoint failed and is tried again; suspended: it is not tried any more until the webhook is saved or resumed; inactive: the webhook gets no events." example:"flowing"`
	Until           *Timestamp `json:"until" nullable:"true" doc:"While it waits: when the endpoint is tried again." sample:"-"`
	Since           *Timestamp `json:"since" nullable:"true" doc:"While it waits or is suspended: since when the endpoint fails." sample:"-"`
	Reason          *string    `json:"reason" nullable:"true" doc:"While it waits: why the endpoint failed the last time. Suspended: gone, where it answered 410; unreachable, where nothing succeeded for too long."`
	PendingEvents   int64      `json:"pendingEvents" doc:"Events that are still to be delivered; of a chat that is blocked, the first alone." example:"0"`
	OldestPendingAt *Timestamp `json:"oldestPendingAt" nullable:"true" doc:"When the oldest of them happened." sample:"-"`
}

func newDeliveryCondition(c webhook.Condition) DeliveryCondition {
	return DeliveryCondition{
		State: string(c.Flow), Until: timestampOrNil(c.Until), Since: timestampOrNil(c.Since), Reason: textOrNil(c.Reason),
		PendingEvents: c.Pending, OldestPendingAt: timestampOrNil(c.OldestPendingAt),
	}
}

func newDelivery(d webhook.Delivery) Delivery {
	shown := Delivery{
		State: string(d.State), EventID: d.EventID, Sequence: d.Sequence, Type: string(d.Kind), Chat: string(d.Chat),
		Timestamp: Timestamp(d.At), Error: textOrNil(d.Error), NextTry: timestampOrNil(d.NextTry),
	}
	if d.Status != 0 {
		shown.Status = &d.Status
	}
	switch d.State {
	case webhook.DeliveryDone, webhook.DeliveryFailed:
		shown.DurationMs, shown.Body = new(d.Duration.Milliseconds()), textOrNil(d.Answer)
		if d.Failures > 0 {
			shown.Failures = &d.Failures
		}
	case webhook.DeliveryBlocked:
		shown.Failures = &d.Failures
	case webhook.DeliveryDeadLetter:
	}
	return shown
}

type listDeliveriesInput struct {
	InstancePath
	Paging
}

type replayBody struct {
	FromSequence *int64     `json:"fromSequence,omitempty" minimum:"1" maximum:"9007199254740991" doc:"The first event to deliver again." example:"42"`
	Since        *time.Time `json:"since,omitempty" doc:"Deliver again what was written down since then." example:"2026-11-20T14:00:00Z"`
}

type replayInput struct {
	InstancePath
	JSON[replayBody]
}

// Replay is what a replay brings about.
type Replay struct {
	FromSequence int64 `json:"fromSequence" doc:"The first event that is delivered again." example:"42"`
	Events       int64 `json:"events" doc:"How many are delivered again." example:"7"`
}

// WebhookTest is what an endpoint said to a test event.
type WebhookTest struct {
	Status     *int    `json:"status" nullable:"true" doc:"Of the answer; null where there was none." example:"204"`
	DurationMs int64   `json:"durationMs" example:"12"`
	Body       string  `json:"body" doc:"The beginning of the answer, 4 KiB at most." example:""`
	Error      *string `json:"error" nullable:"true" doc:"Why it failed; null where the endpoint took the event." example:"connection refused"`
}

const webhookPath = "/api/instances/{instanceId}/webhook-config"

func (s *service) registerWebhooks() {
	missing := []string{gateway.CodeWebhookNotFound}
	register(s, operation{
		id: "saveWebhook", method: http.MethodPost, path: webhookPath, tag: tagEvents,
		summary: "Create or update the webhook",
		description: "A new webhook, and one that was not active, begins with the next event. Any other goes on where it is, " +
			"at once, also where it was suspended. After a change of the secret both sign for 24 hours.",
	}, s.saveWebhook)
	register(s, operation{
		id: "getWebhook", method: http.MethodGet, path: webhookPath, tag: tagEvents,
		summary: "Get the webhook", description: "Answers the configuration with its secret.", codes: missing,
	}, s.getWebhook)
	register(s, operation{
		id: "deleteWebhook", method: http.MethodDelete, path: webhookPath, tag: tagEvents,
		summary: "Delete the webhook", description: "Events are still written down, for the stream.", codes: missing,
	}, s.deleteWebhook)
	register(s, operation{
		id: "listDeliveries", method: http.MethodGet, path: webhookPath + "/deliveries", tag: tagEvents,
		summary: "List deliveries",
		description: "What waits, what was given up, and the recent attempts, a hundred at most: in this order, each newest first. " +
			"Of many attempts a second only some are kept. `delivery` says how the delivery is doing now.",
		codes: append([]string{gateway.CodeValidation}, missing...),
	}, s.listDeliveries)
	register(s, operation{
		id: "replayEvents", method: http.MethodPost, path: webhookPath + "/replay", tag: tagEvents,
		summary: "Replay events",
		description: "Delivers events of the past again, with the ids that they had, from a sequence or a time on. " +
			"What retention has removed is passed over. It can be done once a minute; the first six times may follow each other.",
		codes: append([]string{gateway.CodeWebhookInactive}, missing...),
	}, s.replayEvents)
	register(s, operation{
		id: "resumeWebhook", method: http.MethodPost, path: webhookPath + "/resume", tag: tagEvents,
		summary: "Resume the webhook", description: "Tries a webhook that is suspended, or waits after failures, again at once.",
		codes: missing,
	}, s.resumeWebhook)
	register(s, operation{
		id: "testWebhook", method: http.MethodPost, path: webhookPath + "/test", tag: tagEvents,
		summary: "Test the webhook",
		description: "Sends one webhook.test event now, signed like any other, and answers what the endpoint said. " +
			"The event is not written down; its sequence is 0.",
		codes: missing,
	}, s.testWebhook)
}

func (s *service) saveWebhook(ctx context.Context, in *saveWebhookInput) (*answer[Webhook], error) {
	saved, err := s.Webhooks.Save(ctx, exchangeOf(ctx).instance.ID, webhook.Settings{
		URL: in.Given().URL, Secret: in.Given().Secret, Active: in.Given().IsActive,
	})
	if err != nil {
		return nil, err
	}
	return &answer[Webhook]{newWebhook(saved)}, nil
}

func (s *service) getWebhook(ctx context.Context, _ *InstancePath) (*answer[Webhook], error) {
	found, err := s.Webhooks.Get(ctx, exchangeOf(ctx).instance.ID)
	if err != nil {
		return nil, err
	}
	return &answer[Webhook]{newWebhook(found)}, nil
}

func (s *service) deleteWebhook(ctx context.Context, _ *InstancePath) (*nothing, error) {
	return &nothing{}, s.Webhooks.Delete(ctx, exchangeOf(ctx).instance.ID)
}

func (s *service) listDeliveries(ctx context.Context, in *listDeliveriesInput) (*answer[DeliveryList], error) {
	id := exchangeOf(ctx).instance.ID
	page, err := s.Webhooks.Deliveries(ctx, id, in.request())
	if err != nil {
		return nil, err
	}
	condition, err := s.Webhooks.Condition(ctx, id)
	if err != nil {
		return nil, err
	}
	return &answer[DeliveryList]{DeliveryList{
		Envelope: envelope(in.Paging, page, newDelivery), Delivery: newDeliveryCondition(condition),
	}}, nil
}

func (s *service) replayEvents(ctx context.Context, in *replayInput) (*answer[Replay], error) {
	if (in.Given().FromSequence == nil) == (in.Given().Since == nil) {
		return nil, gateway.InvalidFields(
			gateway.FieldError{Field: "fromSequence", Message: "must be given, or since, and not both"},
		)
	}
	var from webhook.From
	if in.Given().FromSequence != nil {
		from.Sequence = *in.Given().FromSequence
	} else {
		from.Since = *in.Given().Since
	}
	replayed, err := s.Webhooks.Replay(ctx, exchangeOf(ctx).instance.ID, from)
	if err != nil {
		return nil, err
	}
	return &answer[Replay]{Replay{FromSequence: replayed.FromSequence, Events: replayed.Events}}, nil
}

func (s *service) resumeWebhook(ctx context.Context, _ *InstancePath) (*nothing, error) {
	return &nothing{}, s.Webhooks.Resume(ctx, exchangeOf(ctx).instance.ID)
}

func (s *service) testWebhook(ctx context.Context, _ *InstancePath) (*answer[WebhookTest], error) {
	trial, err := s.Webhooks.Test(ctx, exchangeOf(ctx).instance.ID)
	if err != nil {
		return nil, err
	}
	shown := WebhookTest{DurationMs: trial.Duration.Milliseconds(), Body: trial.Answer, Error: textOrNil(trial.Error)}
	if trial.Status != 0 {
		shown.Status = &trial.Status
	}
	return &answer[WebhookTest]{shown}, nil
}
