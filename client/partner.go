package client

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// Key is an API key. Key.Key, the secret, is only in the answer that made it.
type Key struct {
	ID          string     `json:"id"`
	Name        string     `json:"name"`
	Key         string     `json:"key,omitempty"`
	InstanceIDs []string   `json:"instanceIds"` // empty: every instance of the account
	Partner     bool       `json:"partner"`
	ExpiresAt   *time.Time `json:"expiresAt"`  // nil: never
	LastUsedAt  *time.Time `json:"lastUsedAt"` // nil: never used, or not said
	RevokedAt   *time.Time `json:"revokedAt"`  // nil: not revoked, or not said
	CreatedAt   time.Time  `json:"createdAt"`
}

// NewKey describes a key to make.
type NewKey struct {
	Name        string     `json:"name"`
	InstanceIDs []string   `json:"instanceIds,omitempty"`
	Partner     bool       `json:"partner,omitempty"`
	ExpiresAt   *time.Time `json:"expiresAt,omitempty"`
}

const (
	partnerInstances = "/api/partner/instances"
	partnerKeys      = "/api/partner/api-keys"
)

// CreateInstance makes an instance. The client's key must be a partner key, as
// for all operations below.
func (c *Client) CreateInstance(ctx context.Context, name string) (Instance, error) {
	var out Instance
	_, err := c.call(ctx, http.MethodPost, partnerInstances, nil, map[string]string{"name": name}, &out)
	return out, err
}

// DeleteInstance logs an instance out and removes it with its messages.
func (c *Client) DeleteInstance(ctx context.Context, instanceID string) error {
	_, err := c.call(ctx, http.MethodDelete, partnerInstances+"/"+url.PathEscape(instanceID), nil, nil, nil)
	return err
}

// StopInstance closes the session of an instance; a restart brings it back.
func (c *Client) StopInstance(ctx context.Context, instanceID string) error {
	_, err := c.call(ctx, http.MethodPost, partnerInstances+"/"+url.PathEscape(instanceID)+"/stop", nil, nil, nil)
	return err
}

// SetPayment marks the payment of an instance as pending or settled.
func (c *Client) SetPayment(ctx context.Context, instanceID string, pending bool) (Instance, error) {
	var out Instance
	in := map[string]bool{"pending": pending}
	_, err := c.call(ctx, http.MethodPut, partnerInstances+"/"+url.PathEscape(instanceID)+"/payment", nil, in, &out)
	return out, err
}

// CreateKey makes an API key. Its secret is in this answer and nowhere else.
func (c *Client) CreateKey(ctx context.Context, key NewKey) (Key, error) {
	var out Key
	_, err := c.call(ctx, http.MethodPost, partnerKeys, nil, key, &out)
	return out, err
}

// ListKeys returns a page of the account's keys, oldest first.
func (c *Client) ListKeys(ctx context.Context, page, limit int) (Page[Key], error) {
	var out Page[Key]
	_, err := c.call(ctx, http.MethodGet, partnerKeys+pageQuery(page, limit), nil, nil, &out)
	return out, err
}

// RevokeKey ends a key at once.
func (c *Client) RevokeKey(ctx context.Context, id string) error {
	_, err := c.call(ctx, http.MethodDelete, partnerKeys+"/"+url.PathEscape(id), nil, nil, nil)
	return err
}
