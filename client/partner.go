package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// Key is an API key. Key.Key, the secret, is only in the answer that made it.
type Key struct {
	ID          string     `json:"id"`
	Name        string     `json:"name"`
	Key         string     `json:"key,omitempty"`
	InstanceIDs []string   `json:"instanceIds"` // the scope of the key; empty: every instance of the account
	Partner     bool       `json:"partner"`
	ExpiresAt   *time.Time `json:"expiresAt"`  // nil: never
	LastUsedAt  *time.Time `json:"lastUsedAt"` // nil: never used, or not in this answer
	RevokedAt   *time.Time `json:"revokedAt"`  // nil: not revoked, or not in this answer
	CreatedAt   time.Time  `json:"createdAt"`
}

// NewKey describes a key to create.
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

// CreateInstance creates an instance. This and all operations below need a partner
// key.
func (c *Client) CreateInstance(ctx context.Context, name string) (Instance, error) {
	var out Instance
	err := c.call(ctx, http.MethodPost, partnerInstances, map[string]string{"name": name}, &out)
	return out, err
}

// DeleteInstance logs an instance out and removes it with its messages.
func (c *Client) DeleteInstance(ctx context.Context, instanceID string) error {
	return c.call(ctx, http.MethodDelete, partnerInstances+"/"+url.PathEscape(instanceID), nil, nil)
}

// StopInstance closes the session of an instance; a restart brings it back.
func (c *Client) StopInstance(ctx context.Context, instanceID string) error {
	return c.call(ctx, http.MethodPost, partnerInstances+"/"+url.PathEscape(instanceID)+"/stop", nil, nil)
}

// SetPayment marks the payment of an instance as pending or settled.
func (c *Client) SetPayment(ctx context.Context, instanceID string, pending bool) (Instance, error) {
	var out Instance
	in := map[string]bool{"pending": pending}
	err := c.call(ctx, http.MethodPut, partnerInstances+"/"+url.PathEscape(instanceID)+"/payment", in, &out)
	return out, err
}

// CreateKey creates an API key. Only this answer has its secret.
func (c *Client) CreateKey(ctx context.Context, key NewKey) (Key, error) {
	var out Key
	err := c.call(ctx, http.MethodPost, partnerKeys, key, &out)
	return out, err
}

// ListKeys returns a page of the account's keys, oldest first.
func (c *Client) ListKeys(ctx context.Context, page, limit int) (Page[Key], error) {
	var out Page[Key]
	err := c.call(ctx, http.MethodGet, partnerKeys+pageQuery(page, limit), nil, &out)
	return out, err
}

// Keys yields all keys of the account, oldest first, fetched page by page. An error
// ends the sequence.
func (c *Client) Keys(ctx context.Context) iter.Seq2[Key, error] {
	return items(func(page int) (Page[Key], error) { return c.ListKeys(ctx, page, 0) })
}

// RevokeKey ends a key at once.
func (c *Client) RevokeKey(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodDelete, partnerKeys+"/"+url.PathEscape(id), nil, nil)
}
