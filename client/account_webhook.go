package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// AccountWebhook is a destination of the events of all instances of an account. Each instance
// has a OneWebhook that follows it.
type AccountWebhook struct {
	ID          string    `json:"id"`
	URL         string    `json:"url"`
	Secret      string    `json:"secret"`      // empty if none is set
	Events      []string  `json:"events"`      // empty: all
	Chats       []string  `json:"chats"`       // empty: all
	HeaderNames []string  `json:"headerNames"` // of its own headers
	MediaLinks  bool      `json:"mediaLinks"`  // events have links to the files of messages
	IsActive    bool      `json:"isActive"`
	CreatedAt   time.Time `json:"createdAt"`
	UpdatedAt   time.Time `json:"updatedAt"`
}

const accountWebhooksPath = "/api/partner/webhooks"

// CreateAccountWebhook makes a webhook for all instances of the account, those that come later
// too. It needs a partner key for the whole account, like the others.
func (c *Client) CreateAccountWebhook(ctx context.Context, webhook NewWebhook) (AccountWebhook, error) {
	var out AccountWebhook
	err := c.call(ctx, http.MethodPost, accountWebhooksPath, webhook, &out)
	return out, err
}

// ListAccountWebhooks returns a page of the webhooks of the account, oldest first. Zero means
// the first page, and a hundred items.
func (c *Client) ListAccountWebhooks(ctx context.Context, page, limit int) (Page[AccountWebhook], error) {
	var out Page[AccountWebhook]
	err := c.call(ctx, http.MethodGet, accountWebhooksPath+pageQuery(page, limit), nil, &out)
	return out, err
}

// AccountWebhooks yields all webhooks of the account, fetched page by page. An error ends the
// sequence.
func (c *Client) AccountWebhooks(ctx context.Context) iter.Seq2[AccountWebhook, error] {
	return items(func(page int) (Page[AccountWebhook], error) { return c.ListAccountWebhooks(ctx, page, 0) })
}

// AccountWebhook returns one of the webhooks of the account.
func (c *Client) AccountWebhook(ctx context.Context, webhookID string) (AccountWebhook, error) {
	var out AccountWebhook
	err := c.call(ctx, http.MethodGet, accountWebhooksPath+"/"+url.PathEscape(webhookID), nil, &out)
	return out, err
}

// ChangeAccountWebhook changes one of the webhooks of the account.
func (c *Client) ChangeAccountWebhook(ctx context.Context, webhookID string, change WebhookChange) (AccountWebhook, error) {
	var out AccountWebhook
	err := c.call(ctx, http.MethodPatch, accountWebhooksPath+"/"+url.PathEscape(webhookID), change, &out)
	return out, err
}

// DeleteAccountWebhook removes one of the webhooks of the account, with all that follow it.
func (c *Client) DeleteAccountWebhook(ctx context.Context, webhookID string) error {
	return c.call(ctx, http.MethodDelete, accountWebhooksPath+"/"+url.PathEscape(webhookID), nil, nil)
}
