package client

import (
	"context"
	"net/http"
	"time"
)

// Webhook is where the events of an instance are delivered.
type Webhook struct {
	ID         string    `json:"id"`
	InstanceID string    `json:"instanceId"`
	WebhookURL string    `json:"webhookUrl"`
	Secret     string    `json:"secret"` // empty where none is set
	IsActive   bool      `json:"isActive"`
	CreatedAt  time.Time `json:"createdAt"`
	UpdatedAt  time.Time `json:"updatedAt"`
}

// WebhookConfig is what SaveWebhook sets.
type WebhookConfig struct {
	WebhookURL string `json:"webhookUrl"`
	Secret     string `json:"secret,omitempty"`   // empty keeps the one that is set
	IsActive   *bool  `json:"isActive,omitempty"` // nil means true
}

// Delivery is one line of what became of events.
type Delivery struct {
	// State is "blocked", "dead_letter", "delivered" or "failed".
	State      string     `json:"state"`
	EventID    string     `json:"eventId"`
	Sequence   int64      `json:"sequence"`
	Type       string     `json:"type"`
	Chat       string     `json:"chat"`
	Timestamp  time.Time  `json:"timestamp"`
	Status     *int       `json:"status"` // nil where there was no answer
	Error      *string    `json:"error"`
	DurationMs *int64     `json:"durationMs"`
	Body       *string    `json:"body"`
	Failures   *int       `json:"failures"`
	NextTry    *time.Time `json:"nextTry"`
}

// Replay says where a replay begins: exactly one of its fields is set.
type Replay struct {
	FromSequence int64     `json:"fromSequence,omitzero"`
	Since        time.Time `json:"since,omitzero"`
}

// Replayed is what a replay brings about.
type Replayed struct {
	FromSequence int64 `json:"fromSequence"`
	Events       int64 `json:"events"` // how many are delivered again
}

// WebhookTest is what an endpoint said to a test event.
type WebhookTest struct {
	Status     *int    `json:"status"` // nil where there was no answer
	DurationMs int64   `json:"durationMs"`
	Body       string  `json:"body"`
	Error      *string `json:"error"` // nil where the endpoint took the event
}

// SaveWebhook creates or changes the webhook of an instance.
func (c *Client) SaveWebhook(ctx context.Context, instanceID string, config WebhookConfig) (Webhook, error) {
	var out Webhook
	_, err := c.call(ctx, http.MethodPost, webhookPath(instanceID, ""), nil, config, &out)
	return out, err
}

// Webhook returns the webhook of an instance.
func (c *Client) Webhook(ctx context.Context, instanceID string) (Webhook, error) {
	var out Webhook
	_, err := c.call(ctx, http.MethodGet, webhookPath(instanceID, ""), nil, nil, &out)
	return out, err
}

// DeleteWebhook removes the webhook of an instance.
func (c *Client) DeleteWebhook(ctx context.Context, instanceID string) error {
	_, err := c.call(ctx, http.MethodDelete, webhookPath(instanceID, ""), nil, nil, nil)
	return err
}

// ListDeliveries returns a page of what waits, what was given up, and the recent
// attempts. Zero means the first page, and a hundred lines.
func (c *Client) ListDeliveries(ctx context.Context, instanceID string, page, limit int) (Page[Delivery], error) {
	var out Page[Delivery]
	_, err := c.call(ctx, http.MethodGet, webhookPath(instanceID, "/deliveries")+pageQuery(page, limit), nil, nil, &out)
	return out, err
}

// ReplayEvents delivers events of the past again.
func (c *Client) ReplayEvents(ctx context.Context, instanceID string, from Replay) (Replayed, error) {
	var out Replayed
	_, err := c.call(ctx, http.MethodPost, webhookPath(instanceID, "/replay"), nil, from, &out)
	return out, err
}

// ResumeWebhook tries a webhook that is suspended, or waits after failures,
// again at once.
func (c *Client) ResumeWebhook(ctx context.Context, instanceID string) error {
	_, err := c.call(ctx, http.MethodPost, webhookPath(instanceID, "/resume"), nil, nil, nil)
	return err
}

// TestWebhook sends one test event now and returns what the endpoint said.
func (c *Client) TestWebhook(ctx context.Context, instanceID string) (WebhookTest, error) {
	var out WebhookTest
	_, err := c.call(ctx, http.MethodPost, webhookPath(instanceID, "/test"), nil, nil, &out)
	return out, err
}

func webhookPath(instanceID, rest string) string {
	return instancePath(instanceID, "/webhook-config"+rest)
}
