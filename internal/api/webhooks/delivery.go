// The deliveries to webhooks: what became of events, a replay, a resume and a test.

package webhooks

import (
	"context"
	"time"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/webhook"
)

// Deliveries are the use cases of the deliveries to a webhook.
type Deliveries interface {
	Deliveries(ctx context.Context, ref webhook.Ref, page gateway.PageRequest) (gateway.Page[webhook.Delivery], error)
	Condition(ctx context.Context, ref webhook.Ref) (webhook.Condition, error)
	Replay(ctx context.Context, ref webhook.Ref, from webhook.From) (webhook.Replayed, error)
	Resume(ctx context.Context, ref webhook.Ref) error
	Test(ctx context.Context, ref webhook.Ref) (webhook.Result, error)
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

// DeliveryList is the answer of the list of deliveries.
type DeliveryList struct {
	contract.Envelope[Delivery]

	Delivery DeliveryCondition `json:"delivery" doc:"The current state of the delivery."`
}

// DeliveryCondition is the current state of the delivery to a webhook.
type DeliveryCondition struct {
	State           string              `json:"state" enum:"flowing,waiting,suspended,inactive" doc:"flowing: events are delivered; waiting: the endpoint failed and will be tried again; suspended: it is not tried until the webhook is saved or resumed; inactive: the webhook gets no events." example:"flowing"`
	Until           *contract.Timestamp `json:"until" nullable:"true" doc:"While waiting: when the endpoint is tried again." sample:"-"`
	Since           *contract.Timestamp `json:"since" nullable:"true" doc:"While waiting or suspended: since when the endpoint has been failing." sample:"-"`
	Reason          *string             `json:"reason" nullable:"true" doc:"While waiting: why the last attempt failed. While suspended: gone, if the endpoint answered 410; unreachable, if no attempt succeeded for too long."`
	PendingEvents   int64               `json:"pendingEvents" doc:"Events that are still to be delivered. A blocked chat counts only with its first event." example:"0"`
	OldestPendingAt *contract.Timestamp `json:"oldestPendingAt" nullable:"true" doc:"When the oldest pending event happened." sample:"-"`
}

func newDeliveryCondition(c webhook.Condition) DeliveryCondition {
	return DeliveryCondition{
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

type firstDeliveriesInput struct {
	FirstPath
	contract.Paging
}

func (in firstDeliveriesInput) paging() contract.Paging { return in.Paging }

type deliveriesInput struct {
	OnePath
	contract.Paging
}

func (in deliveriesInput) paging() contract.Paging { return in.Paging }

type replayBody struct {
	FromSequence *int64     `json:"fromSequence,omitempty" minimum:"1" maximum:"9007199254740991" doc:"The first event to deliver again." example:"42"`
	Since        *time.Time `json:"since,omitempty" doc:"Deliver again the events recorded since then." example:"2026-11-20T14:00:00Z"`
}

type firstReplayInput struct {
	FirstPath
	contract.JSON[replayBody]
}

func (in *firstReplayInput) from() replayBody { return in.Given() }

type replayInput struct {
	OnePath
	contract.JSON[replayBody]
}

func (in *replayInput) from() replayBody { return in.Given() }

// Replay is the answer to a replay.
type Replay struct {
	FromSequence int64 `json:"fromSequence" doc:"The first event that is delivered again." example:"42"`
	Events       int64 `json:"events" doc:"How many events are delivered again, those counted that the webhook leaves out." example:"7"`
}

// Test is the answer of an endpoint to a test event.
type Test struct {
	Status     *int    `json:"status" nullable:"true" doc:"HTTP status of the answer; null if there was none." example:"204"`
	DurationMs int64   `json:"durationMs" example:"12"`
	Body       string  `json:"body" doc:"The beginning of the answer, at most 4 KiB." example:""`
	Error      *string `json:"error" nullable:"true" doc:"Why the test failed; null if the endpoint accepted the event." example:"connection refused"`
}

// ListConfigDeliveries and the next three are of the contract's webhook-config.
func (r Resource) ListConfigDeliveries() contract.Endpoint {
	return list[firstDeliveriesInput](r, "listDeliveries", "List deliveries")
}

// ReplayConfig delivers past events again.
func (r Resource) ReplayConfig() contract.Endpoint {
	return replay[firstReplayInput](r, "replayEvents", "Replay events")
}

// ResumeConfig tries the endpoint again.
func (r Resource) ResumeConfig() contract.Endpoint {
	return resume[FirstPath](r, "resumeWebhook", "Resume the webhook")
}

// TestConfig sends a test event.
func (r Resource) TestConfig() contract.Endpoint {
	return test[FirstPath](r, "testWebhook", "Test the webhook")
}

// ListDeliveries and the next three are of any webhook.
func (r Resource) ListDeliveries() contract.Endpoint {
	return list[deliveriesInput](r, "listWebhookDeliveries", "List the deliveries of one of the webhooks")
}

// Replay delivers past events again.
func (r Resource) Replay() contract.Endpoint {
	return replay[replayInput](r, "replayWebhook", "Replay events to one of the webhooks")
}

// Resume tries the endpoint again.
func (r Resource) Resume() contract.Endpoint {
	return resume[OnePath](r, "resumeOneWebhook", "Resume one of the webhooks")
}

// Test sends a test event.
func (r Resource) Test() contract.Endpoint {
	return test[OnePath](r, "testOneWebhook", "Test one of the webhooks")
}

func list[P interface {
	place
	paging() contract.Paging
}](r Resource, id, summary string,
) contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: id, Tag: contract.EventsTag, Summary: summary,
		Description: "Lists the events that wait, the events that were given up, and up to a hundred recent attempts: in this order, each newest first. " +
			"When there are many attempts per second, only some of them are kept. `delivery` is the current state of the delivery.",
		Codes: []string{gateway.CodeValidation, gateway.CodeWebhookNotFound},
	}, func(ctx context.Context, in *P) (*contract.Answer[DeliveryList], error) {
		ref, paging := (*in).ref(ctx), (*in).paging()
		page, err := r.use.Deliveries(ctx, ref, paging.Request())
		if err != nil {
			return nil, err
		}
		condition, err := r.use.Condition(ctx, ref)
		if err != nil {
			return nil, err
		}
		return &contract.Answer[DeliveryList]{Body: DeliveryList{
			Envelope: contract.NewEnvelope(paging, page, newDelivery), Delivery: newDeliveryCondition(condition),
		}}, nil
	})
}

// replay takes the input by its pointer, because that is what has its body.
func replay[P any, I interface {
	*P
	place
	from() replayBody
}](r Resource, id, summary string,
) contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: id, Tag: contract.EventsTag, Summary: summary,
		Description: "Delivers past events again, with the same ids, starting at a sequence or a time. " +
			"Events that retention has removed are skipped. The webhooks of an instance can be replayed once a minute; the first six replays may follow each other at once.",
		Codes: []string{gateway.CodeWebhookInactive, gateway.CodeWebhookNotFound},
	}, func(ctx context.Context, in *P) (*contract.Answer[Replay], error) {
		given := I(in).from()
		if (given.FromSequence == nil) == (given.Since == nil) {
			return nil, gateway.InvalidFields(
				gateway.FieldError{Field: "fromSequence", Message: "or since must be given, but not both"},
			)
		}
		var from webhook.From
		if given.FromSequence != nil {
			from.Sequence = *given.FromSequence
		} else {
			from.Since = *given.Since
		}
		replayed, err := r.use.Replay(ctx, I(in).ref(ctx), from)
		if err != nil {
			return nil, err
		}
		return &contract.Answer[Replay]{Body: Replay{FromSequence: replayed.FromSequence, Events: replayed.Events}}, nil
	})
}

func resume[P place](r Resource, id, summary string) contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: id, Tag: contract.EventsTag, Summary: summary,
		Description: "Tries the endpoint again at once, if the webhook is suspended or waits after failures.",
		Codes:       []string{gateway.CodeWebhookNotFound},
	}, func(ctx context.Context, in *P) (*contract.Nothing, error) {
		return &contract.Nothing{}, r.use.Resume(ctx, (*in).ref(ctx))
	})
}

func test[P place](r Resource, id, summary string) contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: id, Tag: contract.EventsTag, Summary: summary,
		Description: "Sends one webhook.test event now, signed like any other, and returns the endpoint's answer. " +
			"The event is not recorded; its sequence is 0.",
		Codes: []string{gateway.CodeWebhookNotFound},
	}, func(ctx context.Context, in *P) (*contract.Answer[Test], error) {
		tested, err := r.use.Test(ctx, (*in).ref(ctx))
		if err != nil {
			return nil, err
		}
		shown := Test{DurationMs: tested.Duration.Milliseconds(), Body: tested.Answer, Error: contract.TextOrNil(tested.Error)}
		if tested.Status != 0 {
			shown.Status = &tested.Status
		}
		return &contract.Answer[Test]{Body: shown}, nil
	})
}
