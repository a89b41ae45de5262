package client

import (
	"context"
	"net/http"
	"net/url"
)

// NumberCheck says whether a number has an account on the platform.
type NumberCheck struct {
	Number string `json:"number"` // digits that were looked up
	Exists bool   `json:"exists"`
	JID    string `json:"jid,omitempty"` // personal chat ID; empty if there is no account
}

// Presence is the state of the account that a contact sees.
type Presence string

// The presences. The first three belong to one chat, the last two to the account.
const (
	Composing   Presence = "composing"
	Recording   Presence = "recording"
	Paused      Presence = "paused"
	Available   Presence = "available"
	Unavailable Presence = "unavailable"
)

// CheckNumbers asks which numbers have an account. It returns one answer for each
// number, in the same order.
func (c *Client) CheckNumbers(ctx context.Context, instanceID string, numbers []string) ([]NumberCheck, error) {
	in := map[string][]string{"numbers": append([]string{}, numbers...)} // never null
	var out struct {
		Results []NumberCheck `json:"results"`
	}
	err := c.call(ctx, http.MethodPost, instancePath(instanceID, "/check-numbers"), in, &out)
	return out.Results, err
}

// SendPresence shows a contact the presence of the account.
func (c *Client) SendPresence(ctx context.Context, instanceID, to string, presence Presence) error {
	in := map[string]string{"to": to, "presence": string(presence)}
	return c.call(ctx, http.MethodPost, instancePath(instanceID, "/presence"), in, nil)
}

// ProfilePicture returns the URL of the picture of a person or group; empty if there
// is none or the account may not see it.
func (c *Client) ProfilePicture(ctx context.Context, instanceID, phone string) (string, error) {
	var out struct {
		URL *string `json:"url"`
	}
	err := c.call(ctx, http.MethodGet, contactPath(instanceID, phone, "/profile-picture"), nil, &out)
	if err != nil || out.URL == nil {
		return "", err
	}
	return *out.URL, nil
}

// Block keeps a contact from writing to the account.
func (c *Client) Block(ctx context.Context, instanceID, phone string) error {
	return c.call(ctx, http.MethodPost, contactPath(instanceID, phone, "/block"), nil, nil)
}

// Unblock lets a contact write to the account again.
func (c *Client) Unblock(ctx context.Context, instanceID, phone string) error {
	return c.call(ctx, http.MethodDelete, contactPath(instanceID, phone, "/block"), nil, nil)
}

// RejectCall rejects a call that rings; callID is from a CallReceivedEvent.
func (c *Client) RejectCall(ctx context.Context, instanceID, callID string) error {
	return c.call(ctx, http.MethodPost, instancePath(instanceID, "/calls/"+url.PathEscape(callID)+"/reject"), nil, nil)
}

func contactPath(instanceID, phone, rest string) string {
	return instancePath(instanceID, "/contacts/"+url.PathEscape(phone)+rest)
}
