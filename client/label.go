package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
)

// Label is a mark that the account's owner puts on chats and messages, to sort them.
type Label struct {
	LabelID string `json:"labelId"` // the platform's, mostly a number
	Name    string `json:"name"`
	Color   int    `json:"color"` // the number of a colour of the messenger's clients
}

// NewLabel is what a label is made of.
type NewLabel struct {
	Name  string `json:"name"`
	Color int    `json:"color"` // 0 to 19
}

// LabelChange is what ChangeLabel changes; what is nil stays as it is.
type LabelChange struct {
	Name  *string `json:"name,omitempty"`
	Color *int    `json:"color,omitempty"`
}

// ListLabels returns a page of the labels of an instance. Pages count from 1; a limit of 0 means
// the gateway's.
func (c *Client) ListLabels(ctx context.Context, instanceID string, page, limit int) (Page[Label], error) {
	var out Page[Label]
	err := c.call(ctx, http.MethodGet, instancePath(instanceID, "/labels")+pageQuery(page, limit), nil, &out)
	return out, err
}

// Labels yields all of them, fetched page by page. An error ends the sequence.
func (c *Client) Labels(ctx context.Context, instanceID string) iter.Seq2[Label, error] {
	return items(func(page int) (Page[Label], error) { return c.ListLabels(ctx, instanceID, page, 0) })
}

// GetLabel returns a label. Its error has CodeLabelNotFound if there is none.
func (c *Client) GetLabel(ctx context.Context, instanceID, labelID string) (Label, error) {
	var out Label
	err := c.call(ctx, http.MethodGet, labelPath(instanceID, labelID), nil, &out)
	return out, err
}

// CreateLabel makes a label, on all devices of the account.
func (c *Client) CreateLabel(ctx context.Context, instanceID string, label NewLabel) (Label, error) {
	var out Label
	err := c.call(ctx, http.MethodPost, instancePath(instanceID, "/labels"), label, &out)
	return out, err
}

// ChangeLabel changes a label, on all devices of the account.
func (c *Client) ChangeLabel(ctx context.Context, instanceID, labelID string, change LabelChange) (Label, error) {
	var out Label
	err := c.call(ctx, http.MethodPatch, labelPath(instanceID, labelID), change, &out)
	return out, err
}

// DeleteLabel deletes a label, on all devices of the account. No chat and no message has it then.
func (c *Client) DeleteLabel(ctx context.Context, instanceID, labelID string) error {
	return c.call(ctx, http.MethodDelete, labelPath(instanceID, labelID), nil, nil)
}

// LabelChat puts a label on a chat, or takes it away; a chat that is so already stays as it is.
func (c *Client) LabelChat(ctx context.Context, instanceID, chat, labelID string, on bool) error {
	return c.call(ctx, putOrDelete(on), chatPath(instanceID, chat)+"/labels/"+url.PathEscape(labelID), nil, nil)
}

// LabelMessage puts a label on a message, or takes it away; a message that is so already stays as
// it is.
func (c *Client) LabelMessage(ctx context.Context, instanceID, messageID, labelID string, on bool) error {
	path := messagePath(instanceID, "/"+url.PathEscape(messageID)+"/labels/"+url.PathEscape(labelID))
	return c.call(ctx, putOrDelete(on), path, nil, nil)
}

func labelPath(instanceID, labelID string) string {
	return instancePath(instanceID, "/labels/"+url.PathEscape(labelID))
}

func putOrDelete(on bool) string {
	if on {
		return http.MethodPut
	}
	return http.MethodDelete
}
