// The webhooks of an account, which hear all its instances.

package webhooks

import (
	"context"
	"net/http"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/webhook"
	"github.com/recado-project/recado/internal/webhook/accountwide"
)

// AccountUseCases are the use cases of the webhooks of an account.
type AccountUseCases interface {
	Create(ctx context.Context, accountID string, settings webhook.Settings) (accountwide.Webhook, error)
	Change(ctx context.Context, accountID, id string, settings webhook.Settings) (accountwide.Webhook, error)
	Get(ctx context.Context, accountID, id string) (accountwide.Webhook, error)
	List(ctx context.Context, accountID string, page gateway.PageRequest) (gateway.Page[accountwide.Webhook], error)
	Delete(ctx context.Context, accountID, id string) error
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
	IsActive    bool               `json:"isActive" example:"true"`
	CreatedAt   contract.Timestamp `json:"createdAt"`
	UpdatedAt   contract.Timestamp `json:"updatedAt"`
}

func newAccountWebhook(w accountwide.Webhook) AccountWebhook {
	shown := newWebhook(w.Webhook)
	return AccountWebhook{
		ID: shown.ID, URL: shown.URL, Secret: shown.Secret, Events: shown.Events, Chats: shown.Chats, HeaderNames: shown.HeaderNames,
		MediaLinks: shown.MediaLinks, IsActive: shown.IsActive, CreatedAt: shown.CreatedAt, UpdatedAt: shown.UpdatedAt,
	}
}

// AccountWebhookPath names a webhook of an account.
type AccountWebhookPath struct {
	WebhookID string `path:"webhookId" doc:"Identifier of the webhook." example:"019aa1f4-1c7f-7a20-8a5e-4be2f7b0a911"`
}

type createOfAccountInput struct {
	contract.JSON[newBody]
}

type changeOfAccountInput struct {
	AccountWebhookPath
	contract.JSON[changeWebhookBody]
}

type listOfAccountInput struct {
	contract.Paging
}

// account returns the account of the key that a request has. A key for certain instances must
// not hear the others.
func account(ctx context.Context) (string, error) {
	own := contract.Key(ctx)
	if len(own.InstanceIDs) > 0 {
		return "", gateway.Errorf(gateway.Forbidden, gateway.CodeForbidden,
			"the API key's scope is limited to certain instances, and these webhooks hear all: use a partner key for the whole account")
	}
	return own.AccountID, nil
}

// AccountRoutes are the operations on the webhooks of an account.
func AccountRoutes(use AccountUseCases) []contract.Route {
	const all, one = "/api/partner/webhooks", "/api/partner/webhooks/{webhookId}"
	operation := func(id, summary, description string, status int, codes ...string) contract.Operation {
		return contract.Operation{
			ID: id, Tag: contract.EventsTag, Summary: summary, Description: description, Status: status,
			Audience: contract.Partners, Codes: append(codes, gateway.CodeForbidden),
		}
	}
	shown := func(found accountwide.Webhook, err error) (*contract.Answer[AccountWebhook], error) {
		if err != nil {
			return nil, err
		}
		return &contract.Answer[AccountWebhook]{Body: newAccountWebhook(found)}, nil
	}
	return []contract.Route{
		contract.Post(all, contract.Handle(operation("createAccountWebhook", "Create a webhook for all instances",
			"Every instance of the account, those that are created later too, delivers the events to it that happen from now on: each with an order, retries and dead letters of its own. "+
				"The webhook is in the list of the webhooks of each instance, where its deliveries are. It takes a few seconds until all instances follow; no event is lost meanwhile.",
			http.StatusCreated, gateway.CodeWebhookLimit),
			func(ctx context.Context, in *createOfAccountInput) (*contract.Answer[AccountWebhook], error) {
				id, err := account(ctx)
				if err != nil {
					return nil, err
				}
				given := in.Given()
				return shown(use.Create(ctx, id, given.settings(given.URL)))
			})),
		contract.Get(all, contract.Handle(operation("listAccountWebhooks", "List the webhooks for all instances", "Oldest first.", 0, gateway.CodeValidation),
			func(ctx context.Context, in *listOfAccountInput) (*contract.Answer[contract.Envelope[AccountWebhook]], error) {
				id, err := account(ctx)
				if err != nil {
					return nil, err
				}
				page, err := use.List(ctx, id, in.Request())
				if err != nil {
					return nil, err
				}
				return &contract.Answer[contract.Envelope[AccountWebhook]]{Body: contract.NewEnvelope(in.Paging, page, newAccountWebhook)}, nil
			})),
		contract.Get(one, contract.Handle(operation("getAccountWebhook", "Get a webhook for all instances",
			"Returns the configuration, including the secret, but no value of a header.", 0, gateway.CodeWebhookNotFound),
			func(ctx context.Context, in *AccountWebhookPath) (*contract.Answer[AccountWebhook], error) {
				id, err := account(ctx)
				if err != nil {
					return nil, err
				}
				return shown(use.Get(ctx, id, in.WebhookID))
			})),
		contract.Patch(one, contract.Handle(operation("changeAccountWebhook", "Change a webhook for all instances",
			"What is left out stays. All instances follow within a few seconds.", 0, gateway.CodeWebhookNotFound),
			func(ctx context.Context, in *changeOfAccountInput) (*contract.Answer[AccountWebhook], error) {
				id, err := account(ctx)
				if err != nil {
					return nil, err
				}
				given := in.Given()
				var url string
				if given.URL != nil {
					url = *given.URL
				}
				return shown(use.Change(ctx, id, in.WebhookID, given.settings(url)))
			})),
		contract.Delete(one, contract.Handle(operation("deleteAccountWebhook", "Delete a webhook for all instances",
			"Events are still recorded and can be read as streams. What is known of its deliveries goes with it.", 0, gateway.CodeWebhookNotFound),
			func(ctx context.Context, in *AccountWebhookPath) (*contract.Nothing, error) {
				id, err := account(ctx)
				if err != nil {
					return nil, err
				}
				return &contract.Nothing{}, use.Delete(ctx, id, in.WebhookID)
			})),
	}
}
