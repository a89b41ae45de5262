package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// OneWebhook is one destination of the events of an instance; the one of Webhook is among
// them.
type OneWebhook struct {
	ID         string `json:"id"`
	InstanceID string `json:"instanceId"`
	// AccountWebhookID names the AccountWebhook that it follows; nil if it has its own settings.
	AccountWebhookID *string   `json:"accountWebhookId"`
	IsFirst          bool      `json:"isFirst"` // it is the one of SaveWebhook and Webhook
	URL              string    `json:"url"`
	Secret           string    `json:"secret"`      // empty if none is set, or if the account's webhook has it and the key may not see it
	Events           []string  `json:"events"`      // empty: all
	Chats            []string  `json:"chats"`       // empty: all
	HeaderNames      []string  `json:"headerNames"` // of its own headers
	MediaLinks       bool      `json:"mediaLinks"`  // events have links to the files of messages
	IsActive         bool      `json:"isActive"`
	CreatedAt        time.Time `json:"createdAt"`
	UpdatedAt        time.Time `json:"updatedAt"`
}

// The kinds of chats that a webhook can be limited to.
const (
	ChatDirect  = "direct"
	ChatGroup   = "group"
	ChatChannel = "channel"
	ChatStatus  = "status"
)

// NewWebhook is a webhook to be made.
type NewWebhook struct {
	URL        string            `json:"url"`
	Secret     string            `json:"secret,omitempty"`
	Events     []string          `json:"events,omitempty"`     // types; empty: all
	Chats      []string          `json:"chats,omitempty"`      // kinds; empty: all
	Headers    map[string]string `json:"headers,omitempty"`    // that each request carries
	MediaLinks bool              `json:"mediaLinks,omitempty"` // events have links to the files of messages
	IsActive   *bool             `json:"isActive,omitempty"`   // nil means true
}

// WebhookChange is what to change of a webhook. What is nil, or the empty string, stays.
type WebhookChange struct {
	URL        string             `json:"url,omitempty"`
	Secret     string             `json:"secret,omitempty"`
	Events     *[]string          `json:"events,omitempty"`
	Chats      *[]string          `json:"chats,omitempty"`
	Headers    *map[string]string `json:"headers,omitempty"` // in place of those that there are
	MediaLinks *bool              `json:"mediaLinks,omitempty"`
	IsActive   *bool              `json:"isActive,omitempty"`
}

// CreateWebhook makes one more webhook of an instance.
func (c *Client) CreateWebhook(ctx context.Context, instanceID string, webhook NewWebhook) (OneWebhook, error) {
	var out OneWebhook
	err := c.call(ctx, http.MethodPost, instancePath(instanceID, "/webhooks"), webhook, &out)
	return out, err
}

// ListWebhooks returns a page of the webhooks of an instance, oldest first. Zero means the
// first page, and a hundred items.
func (c *Client) ListWebhooks(ctx context.Context, instanceID string, page, limit int) (Page[OneWebhook], error) {
	var out Page[OneWebhook]
	err := c.call(ctx, http.MethodGet, instancePath(instanceID, "/webhooks")+pageQuery(page, limit), nil, &out)
	return out, err
}

// Webhooks yields all webhooks of an instance, fetched page by page. An error ends the
// sequence.
func (c *Client) Webhooks(ctx context.Context, instanceID string) iter.Seq2[OneWebhook, error] {
	return items(func(page int) (Page[OneWebhook], error) { return c.ListWebhooks(ctx, instanceID, page, 0) })
}

// OneWebhook returns one of the webhooks of an instance.
func (c *Client) OneWebhook(ctx context.Context, instanceID, webhookID string) (OneWebhook, error) {
	var out OneWebhook
	err := c.call(ctx, http.MethodGet, oneWebhookPath(instanceID, webhookID, ""), nil, &out)
	return out, err
}

// ChangeWebhook changes one of the webhooks of an instance.
func (c *Client) ChangeWebhook(ctx context.Context, instanceID, webhookID string, change WebhookChange) (OneWebhook, error) {
	var out OneWebhook
	err := c.call(ctx, http.MethodPatch, oneWebhookPath(instanceID, webhookID, ""), change, &out)
	return out, err
}

// DeleteOneWebhook removes one of the webhooks of an instance.
func (c *Client) DeleteOneWebhook(ctx context.Context, instanceID, webhookID string) error {
	return c.call(ctx, http.MethodDelete, oneWebhookPath(instanceID, webhookID, ""), nil, nil)
}

// ListDeliveries returns a page of the events that wait, the events that were given
// up, and the recent attempts, with the state of the delivery. Zero means the first
// page, and a hundred items.
func (c *Client) ListDeliveries(ctx context.Context, instanceID, webhookID string, page, limit int) (DeliveryPage, error) {
	var out DeliveryPage
	err := c.call(ctx, http.MethodGet, oneWebhookPath(instanceID, webhookID, "/deliveries")+pageQuery(page, limit), nil, &out)
	return out, err
}

// Deliveries yields all items of ListDeliveries, fetched page by page. An error ends
// the sequence.
func (c *Client) Deliveries(ctx context.Context, instanceID, webhookID string) iter.Seq2[Delivery, error] {
	return items(func(page int) (Page[Delivery], error) {
		fetched, err := c.ListDeliveries(ctx, instanceID, webhookID, page, 0)
		return fetched.Page, err
	})
}

// ReplayEvents delivers past events again.
func (c *Client) ReplayEvents(ctx context.Context, instanceID, webhookID string, from Replay) (Replayed, error) {
	var out Replayed
	err := c.call(ctx, http.MethodPost, oneWebhookPath(instanceID, webhookID, "/replay"), from, &out)
	return out, err
}

// ResumeWebhook makes the gateway try the endpoint again at once, if the webhook is
// suspended or waits after failures.
func (c *Client) ResumeWebhook(ctx context.Context, instanceID, webhookID string) error {
	return c.call(ctx, http.MethodPost, oneWebhookPath(instanceID, webhookID, "/resume"), nil, nil)
}

// TestWebhook sends one test event now and returns the endpoint's answer.
func (c *Client) TestWebhook(ctx context.Context, instanceID, webhookID string) (WebhookTest, error) {
	var out WebhookTest
	err := c.call(ctx, http.MethodPost, oneWebhookPath(instanceID, webhookID, "/test"), nil, &out)
	return out, err
}

func oneWebhookPath(instanceID, webhookID, rest string) string {
	return instancePath(instanceID, "/webhooks/"+url.PathEscape(webhookID)+rest)
}
