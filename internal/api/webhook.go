package api

import (
	"context"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/webhook"
)

// WebhookSettings are the use cases of the webhook of an instance.
type WebhookSettings interface {
	Save(ctx context.Context, instanceID string, settings webhook.Settings) (webhook.Webhook, error)
	Get(ctx context.Context, instanceID string) (webhook.Webhook, error)
	Delete(ctx context.Context, instanceID string) error
	Resume(ctx context.Context, instanceID string) error
	Test(ctx context.Context, instanceID string) (webhook.Result, error)
}

// Webhook is the configuration of an instance's webhook.
type Webhook struct {
	ID         string             `json:"id" format:"uuid" example:"019aa1f4-1c7f-7a20-8a5e-4be2f7b0a911"`
	InstanceID string             `json:"instanceId" format:"uuid"`
	URL        string             `json:"webhookUrl" doc:"Where events are delivered." example:"https://shop.example.org/recado"`
	Secret     string             `json:"secret,omitempty" doc:"The secret that signs deliveries; left out if none is set." example:"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"`
	IsActive   bool               `json:"isActive" example:"true"`
	CreatedAt  contract.Timestamp `json:"createdAt"`
	UpdatedAt  contract.Timestamp `json:"updatedAt"`
}

func newWebhook(w webhook.Webhook) Webhook {
	return Webhook{
		ID: w.ID, InstanceID: w.InstanceID, URL: w.URL, Secret: string(w.Secret), IsActive: w.Active,
		CreatedAt: contract.Timestamp(w.CreatedAt), UpdatedAt: contract.Timestamp(w.UpdatedAt),
	}
}

type webhookBody struct {
	URL      string  `json:"webhookUrl" minLength:"1" doc:"An absolute http or https URL." example:"https://shop.example.org/recado"`
	Secret   *string `json:"secret,omitempty" doc:"The secret that signs deliveries (Standard Webhooks). If left out, the current one stays." example:"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"`
	IsActive *bool   `json:"isActive,omitempty" doc:"Whether events are delivered. If left out: true." example:"true"`
}

type saveWebhookInput struct {
	contract.InstancePath
	contract.JSON[webhookBody]
}

// WebhookTest is the answer of an endpoint to a test event.
type WebhookTest struct {
	Status     *int    `json:"status" nullable:"true" doc:"HTTP status of the answer; null if there was none." example:"204"`
	DurationMs int64   `json:"durationMs" example:"12"`
	Body       string  `json:"body" doc:"The beginning of the answer, at most 4 KiB." example:""`
	Error      *string `json:"error" nullable:"true" doc:"Why the test failed; null if the endpoint accepted the event." example:"connection refused"`
}

// webhooks is the resource of the webhook of an instance.
type webhooks struct{ use WebhookSettings }

func (w webhooks) save() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "saveWebhook", Tag: tagEvents,
		Summary: "Create or update the webhook",
		Description: "A new webhook, and one that was inactive, starts with the next event. Any other continues where it is, " +
			"at once, even if it was suspended. After a change of the secret, deliveries are signed with both secrets for 24 hours.",
	}, func(ctx context.Context, in *saveWebhookInput) (*contract.Answer[Webhook], error) {
		given := in.Given()
		saved, err := w.use.Save(ctx, contract.Instance(ctx).ID, webhook.Settings{
			URL: given.URL, Secret: given.Secret, Active: given.IsActive,
		})
		if err != nil {
			return nil, err
		}
		return &contract.Answer[Webhook]{Body: newWebhook(saved)}, nil
	})
}

func (w webhooks) get() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getWebhook", Tag: tagEvents,
		Summary: "Get the webhook", Description: "Returns the configuration, including the secret.",
		Codes: []string{gateway.CodeWebhookNotFound},
	}, func(ctx context.Context, _ *contract.InstancePath) (*contract.Answer[Webhook], error) {
		found, err := w.use.Get(ctx, contract.Instance(ctx).ID)
		if err != nil {
			return nil, err
		}
		return &contract.Answer[Webhook]{Body: newWebhook(found)}, nil
	})
}

func (w webhooks) delete() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "deleteWebhook", Tag: tagEvents,
		Summary: "Delete the webhook", Description: "Events are still recorded and can be read as a stream.",
		Codes: []string{gateway.CodeWebhookNotFound},
	}, func(ctx context.Context, _ *contract.InstancePath) (*contract.Nothing, error) {
		return &contract.Nothing{}, w.use.Delete(ctx, contract.Instance(ctx).ID)
	})
}

func (w webhooks) resume() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "resumeWebhook", Tag: tagEvents,
		Summary: "Resume the webhook", Description: "Tries the endpoint again at once, if the webhook is suspended or waits after failures.",
		Codes: []string{gateway.CodeWebhookNotFound},
	}, func(ctx context.Context, _ *contract.InstancePath) (*contract.Nothing, error) {
		return &contract.Nothing{}, w.use.Resume(ctx, contract.Instance(ctx).ID)
	})
}

func (w webhooks) test() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "testWebhook", Tag: tagEvents,
		Summary: "Test the webhook",
		Description: "Sends one webhook.test event now, signed like any other, and returns the endpoint's answer. " +
			"The event is not recorded; its sequence is 0.",
		Codes: []string{gateway.CodeWebhookNotFound},
	}, func(ctx context.Context, _ *contract.InstancePath) (*contract.Answer[WebhookTest], error) {
		tested, err := w.use.Test(ctx, contract.Instance(ctx).ID)
		if err != nil {
			return nil, err
		}
		shown := WebhookTest{DurationMs: tested.Duration.Milliseconds(), Body: tested.Answer, Error: contract.TextOrNil(tested.Error)}
		if tested.Status != 0 {
			shown.Status = &tested.Status
		}
		return &contract.Answer[WebhookTest]{Body: shown}, nil
	})
}
