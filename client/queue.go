package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// QueuedMessage is a message that waits to be sent.
type QueuedMessage struct {
	ID        string     `json:"id"`
	MessageID string     `json:"messageId"` // that it will have on the platform
	To        string     `json:"to"`
	Type      string     `json:"type"`
	Text      string     `json:"text"`      // or the caption
	State     string     `json:"state"`     // scheduled, waiting, held or sending
	Reason    string     `json:"reason"`    // why it is held: not_connected, pace, new_chats, restricted or retry
	HeldUntil *time.Time `json:"heldUntil"` // nil if it is not held
	SendAt    time.Time  `json:"sendAt"`
	CreatedAt time.Time  `json:"createdAt"`
}

// ListQueue returns a page of the messages of an instance that wait to be sent, in the
// order in which they came. Pages count from 1; a limit of 0 means the gateway's.
func (c *Client) ListQueue(ctx context.Context, instanceID string, page, limit int) (Page[QueuedMessage], error) {
	var out Page[QueuedMessage]
	err := c.call(ctx, http.MethodGet, instancePath(instanceID, "/queue")+pageQuery(page, limit), nil, &out)
	return out, err
}

// Queue yields all messages of an instance that wait to be sent, fetched page by page. An
// error ends the sequence.
func (c *Client) Queue(ctx context.Context, instanceID string) iter.Seq2[QueuedMessage, error] {
	return items(func(page int) (Page[QueuedMessage], error) { return c.ListQueue(ctx, instanceID, page, 0) })
}

// QueuedMessage returns a message that waits to be sent, by its id or its messageId. Its
// error has CodeMessageNotFound if it does not wait, or does not wait any more.
func (c *Client) QueuedMessage(ctx context.Context, instanceID, messageID string) (QueuedMessage, error) {
	var out QueuedMessage
	err := c.call(ctx, http.MethodGet, queuedPath(instanceID, messageID), nil, &out)
	return out, err
}

// CancelQueued takes a message out of the queue, so that it is not sent. Its error has
// CodeMessageBeingSent if it is too late for that.
func (c *Client) CancelQueued(ctx context.Context, instanceID, messageID string) error {
	return c.call(ctx, http.MethodDelete, queuedPath(instanceID, messageID), nil, nil)
}

// CancelQueue takes all messages out of the queue of an instance, but those that are being
// sent, and returns how many there were.
func (c *Client) CancelQueue(ctx context.Context, instanceID string) (int, error) {
	var out struct {
		Cancelled int `json:"cancelled"`
	}
	err := c.call(ctx, http.MethodDelete, instancePath(instanceID, "/queue"), nil, &out)
	return out.Cancelled, err
}

func queuedPath(instanceID, messageID string) string {
	return instancePath(instanceID, "/queue/"+url.PathEscape(messageID))
}
