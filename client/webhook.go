package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// Webhook is the configuration of an instance's webhook.
type Webhook struct {
	ID         string    `json:"id"`
	InstanceID string    `json:"instanceId"`
	WebhookURL string    `json:"webhookUrl"`
	Secret     string    `json:"secret"` // empty if none is set
	IsActive   bool      `json:"isActive"`
	CreatedAt  time.Time `json:"createdAt"`
	UpdatedAt  time.Time `json:"updatedAt"`
}

// WebhookConfig are the settings of a webhook. What is nil, or the empty string, stays.
type WebhookConfig struct {
	WebhookURL string             `json:"webhookUrl"`
	Secret     string             `json:"secret,omitempty"`
	Events     *[]string          `json:"events,omitempty"`
	Chats      *[]string          `json:"chats,omitempty"`
	Headers    *map[string]string `json:"headers,omitempty"` // in place of those that there are
	MediaLinks *bool              `json:"mediaLinks,omitempty"`
	IsActive   *bool              `json:"isActive,omitempty"` // nil means true
}

// The states of a Delivery.
const (
	DeliveryBlocked    = "blocked"     // an event that fails while others succeed: the events of its chat wait
	DeliveryDeadLetter = "dead_letter" // an event that was given up
	DeliveryDelivered  = "delivered"   // an attempt that the endpoint accepted
	DeliveryFailed     = "failed"      // an attempt that failed
)

// Delivery is an attempt to deliver an event, or an event that is blocked or was given
// up.
type Delivery struct {
	// State is one of the states above.
	State      string     `json:"state"`
	EventID    string     `json:"eventId"`
	Sequence   int64      `json:"sequence"`
	Type       string     `json:"type"`
	Chat       string     `json:"chat"`
	Timestamp  time.Time  `json:"timestamp"`
	Status     *int       `json:"status"` // nil if there was no answer
	Error      *string    `json:"error"`
	DurationMs *int64     `json:"durationMs"`
	Body       *string    `json:"body"`
	Failures   *int       `json:"failures"`
	NextTry    *time.Time `json:"nextTry"`
}

// The states of DeliveryState.
const (
	WebhookFlowing   = "flowing"   // events are delivered
	WebhookWaiting   = "waiting"   // the endpoint failed; it is tried again at Until
	WebhookSuspended = "suspended" // the endpoint is not tried until the webhook is resumed or saved
	WebhookInactive  = "inactive"  // the webhook is switched off
)

// DeliveryState is the current state of the delivery to a webhook.
type DeliveryState struct {
	State           string     `json:"state"`           // one of the states above
	Until           *time.Time `json:"until"`           // when a waiting webhook is tried again
	Since           *time.Time `json:"since"`           // since when it waits or is suspended
	Reason          *string    `json:"reason"`          // why
	PendingEvents   int64      `json:"pendingEvents"`   // events that wait to be delivered
	OldestPendingAt *time.Time `json:"oldestPendingAt"` // when the oldest pending event happened
}

// DeliveryPage is a page of deliveries, and the state of the delivery.
type DeliveryPage struct {
	Page[Delivery]

	// Delivery is nil if the gateway is too old to report it.
	Delivery *DeliveryState `json:"delivery"`
}

// Replay says where a replay begins: exactly one of its fields is set.
type Replay struct {
	FromSequence int64     `json:"fromSequence,omitzero"`
	Since        time.Time `json:"since,omitzero"`
}

// Replayed is the answer to a replay.
type Replayed struct {
	FromSequence int64 `json:"fromSequence"`
	Events       int64 `json:"events"` // how many events are delivered again
}

// WebhookTest is the answer of an endpoint to a test event.
type WebhookTest struct {
	Status     *int    `json:"status"` // nil if there was no answer
	DurationMs int64   `json:"durationMs"`
	Body       string  `json:"body"`
	Error      *string `json:"error"` // nil if the endpoint accepted the event
}

// SaveWebhook creates or changes the webhook of an instance.
func (c *Client) SaveWebhook(ctx context.Context, instanceID string, config WebhookConfig) (Webhook, error) {
	var out Webhook
	err := c.call(ctx, http.MethodPost, webhookConfigPath(instanceID), config, &out)
	return out, err
}

// Webhook returns the webhook of an instance.
func (c *Client) Webhook(ctx context.Context, instanceID string) (Webhook, error) {
	var out Webhook
	err := c.call(ctx, http.MethodGet, webhookConfigPath(instanceID), nil, &out)
	return out, err
}

// DeleteWebhook removes the webhook of an instance.
func (c *Client) DeleteWebhook(ctx context.Context, instanceID string) error {
	return c.call(ctx, http.MethodDelete, webhookConfigPath(instanceID), nil, nil)
}

func webhookConfigPath(instanceID string) string { return instancePath(instanceID, "/webhook-config") }

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
