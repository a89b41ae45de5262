package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Instance is a linked session of a messenger account, or one to be linked. The
// Messenger fields are empty while nothing is linked.
type Instance struct {
	InstanceID             string    `json:"instanceId"`
	Name                   string    `json:"name"`
	Status                 string    `json:"status"`
	MessengerJID           string    `json:"messengerJid"`
	MessengerLID           string    `json:"messengerLid"`
	MessengerID            string    `json:"messengerId"`
	MessengerName          string    `json:"messengerName"`
	MessengerProfilePicURL string    `json:"messengerProfilePicUrl"`
	CreatedAt              time.Time `json:"createdAt"`
	UpdatedAt              time.Time `json:"updatedAt"`
}

// Page is a part of a list.
type Page[T any] struct {
	Data         []T  `json:"data"`
	IsFirstPage  bool `json:"isFirstPage"`
	IsLastPage   bool `json:"isLastPage"`
	CurrentPage  int  `json:"currentPage"`
	PreviousPage *int `json:"previousPage"` // nil where there is none
	NextPage     *int `json:"nextPage"`     // nil where there is none
	PageCount    int  `json:"pageCount"`
	TotalCount   int  `json:"totalCount"`
}

// QRCode is what a phone scans to link an instance.
type QRCode struct {
	InstanceID string `json:"instanceId"`
	// QRCode is a PNG as a data URI, or the raw string.
	QRCode    string `json:"qrCode"`
	ExpiresAt int64  `json:"expiresAt"` // Unix time in milliseconds
	Attempt   int    `json:"attempt"`
}

// PairingCode is what a person types on the phone instead of scanning.
type PairingCode struct {
	InstanceID  string `json:"instanceId"`
	PairingCode string `json:"pairingCode"`
	ExpiresAt   int64  `json:"expiresAt"` // Unix time in milliseconds
}

// ListInstances returns a page of the instances that the key reaches, oldest
// first. Zero means the first page, and a hundred instances.
func (c *Client) ListInstances(ctx context.Context, page, limit int) (Page[Instance], error) {
	var out Page[Instance]
	_, err := c.call(ctx, http.MethodGet, "/api/instances"+pageQuery(page, limit), nil, nil, &out)
	return out, err
}

// QRCode starts linking where it has to and returns the code to scan now, as a
// PNG data URI.
func (c *Client) QRCode(ctx context.Context, instanceID string) (QRCode, error) {
	var out QRCode
	_, err := c.call(ctx, http.MethodGet, instancePath(instanceID, "/qr"), nil, nil, &out)
	return out, err
}

// RawQRCode is QRCode with the string that the picture encodes.
func (c *Client) RawQRCode(ctx context.Context, instanceID string) (QRCode, error) {
	var out QRCode
	_, err := c.call(ctx, http.MethodGet, instancePath(instanceID, "/qr?format=raw"), nil, nil, &out)
	return out, err
}

// PairingCode starts linking where it has to and returns the characters to type
// on the phone of that number.
func (c *Client) PairingCode(ctx context.Context, instanceID, phone string) (PairingCode, error) {
	var out PairingCode
	in := map[string]string{"phone": phone}
	_, err := c.call(ctx, http.MethodPost, instancePath(instanceID, "/pairing-code"), nil, in, &out)
	return out, err
}

// Restart reconnects a linked instance, and starts linking one that is not.
func (c *Client) Restart(ctx context.Context, instanceID string) error {
	_, err := c.call(ctx, http.MethodPost, instancePath(instanceID, "/restart"), nil, nil, nil)
	return err
}

// Logout ends the instance's session on the platform and forgets its keys.
func (c *Client) Logout(ctx context.Context, instanceID string) error {
	_, err := c.call(ctx, http.MethodPost, instancePath(instanceID, "/logout"), nil, nil, nil)
	return err
}

func instancePath(instanceID, rest string) string {
	return "/api/instances/" + url.PathEscape(instanceID) + rest
}

func pageQuery(page, limit int) string {
	query := url.Values{}
	if page > 0 {
		query.Set("page", strconv.Itoa(page))
	}
	if limit > 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	if len(query) == 0 {
		return ""
	}
	return "?" + query.Encode()
}
