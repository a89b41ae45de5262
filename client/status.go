// Status posts: what the account and its contacts show for a day.

package client

import (
	"context"
	"iter"
	"net/http"
	"time"
)

// StatusChat is the chat of status posts, in messages and events: what people show to their
// contacts for a day. It can't be written to: PostStatusText and the others do that.
const StatusChat = "status@broadcast"

// StatusText is a text to be shown for a day to those who see the account's status posts.
type StatusText struct {
	Message        string    `json:"message"`
	Background     string    `json:"background,omitempty"` // the colour behind the text: #RRGGBB
	Font           string    `json:"font,omitempty"`       // system, script, bold, breeze, calistoga, exo or typewriter
	Audience       []string  `json:"audience,omitempty"`   // those alone who are shown it, of those who see the status posts; nil for all
	SendAt         time.Time `json:"sendAt,omitzero"`      // as in Text
	Later          bool      `json:"-"`                    // as in Text
	IdempotencyKey string    `json:"-"`                    // as in Text
}

// StatusImage is an image to be shown as a status post.
type StatusImage struct {
	Image          string    `json:"image,omitempty"`
	File           *File     `json:"-"` // sent in place of Image
	Caption        string    `json:"caption,omitempty"`
	Audience       []string  `json:"audience,omitempty"` // as in StatusText
	SendAt         time.Time `json:"sendAt,omitzero"`    // as in Text
	Later          bool      `json:"-"`                  // as in Text
	IdempotencyKey string    `json:"-"`                  // as in Text
}

// StatusVideo is a video to be shown as a status post.
type StatusVideo struct {
	Video          string    `json:"video,omitempty"`
	File           *File     `json:"-"` // sent in place of Video
	Caption        string    `json:"caption,omitempty"`
	Audience       []string  `json:"audience,omitempty"` // as in StatusText
	SendAt         time.Time `json:"sendAt,omitzero"`    // as in Text
	Later          bool      `json:"-"`                  // as in Text
	IdempotencyKey string    `json:"-"`                  // as in Text
}

// StatusVoice is audio to be heard as a status post.
type StatusVoice struct {
	Audio          string    `json:"audio,omitempty"`
	File           *File     `json:"-"`                  // sent in place of Audio
	Audience       []string  `json:"audience,omitempty"` // as in StatusText
	SendAt         time.Time `json:"sendAt,omitzero"`    // as in Text
	Later          bool      `json:"-"`                  // as in Text
	IdempotencyKey string    `json:"-"`                  // as in Text
}

// StatusAudience is a page of the people who see the account's status posts.
type StatusAudience struct {
	// Rule is what the account's owner has chosen on the phone: contacts, only (some people), or
	// contacts_except (some people).
	Rule string `json:"rule"`
	Page[StatusViewer]
}

// StatusViewer is somebody who sees the account's status posts.
type StatusViewer struct {
	ID   string  `json:"id"` // personal chat ID, or the LID if the number is not known
	LID  *string `json:"lid"`
	Name *string `json:"name"`
}

// PostStatusText posts a text as a status. Delete deletes it.
func (c *Client) PostStatusText(ctx context.Context, instanceID string, post StatusText) (Sent, error) {
	return c.send(ctx, instanceID, "/status/text", post.IdempotencyKey, post.Later, post)
}

// PostStatusImage posts an image as a status.
func (c *Client) PostStatusImage(ctx context.Context, instanceID string, post StatusImage) (Sent, error) {
	return c.sendFile(ctx, instanceID, "/status/image", post.IdempotencyKey, post.Later, post, post.File)
}

// PostStatusVideo posts a video as a status.
func (c *Client) PostStatusVideo(ctx context.Context, instanceID string, post StatusVideo) (Sent, error) {
	return c.sendFile(ctx, instanceID, "/status/video", post.IdempotencyKey, post.Later, post, post.File)
}

// PostStatusVoice posts audio as a status.
func (c *Client) PostStatusVoice(ctx context.Context, instanceID string, post StatusVoice) (Sent, error) {
	return c.sendFile(ctx, instanceID, "/status/audio-note", post.IdempotencyKey, post.Later, post, post.File)
}

// ListStatusPosts returns a page of the status posts that the account has written and received,
// newest first. page counts from 1; limit is 1 to 100. 0 leaves either out.
func (c *Client) ListStatusPosts(ctx context.Context, instanceID string, page, limit int) (Page[StoredMessage], error) {
	var out Page[StoredMessage]
	err := c.call(ctx, http.MethodGet, instancePath(instanceID, "/status")+pageQuery(page, limit), nil, &out)
	return out, err
}

// StatusPosts yields the status posts, fetched page by page. An error ends the sequence.
func (c *Client) StatusPosts(ctx context.Context, instanceID string) iter.Seq2[StoredMessage, error] {
	return items(func(page int) (Page[StoredMessage], error) { return c.ListStatusPosts(ctx, instanceID, page, 0) })
}

// ListStatusAudience returns a page of the people to whom a status post goes that is written
// now. page and limit are as in ListStatusPosts.
func (c *Client) ListStatusAudience(ctx context.Context, instanceID string, page, limit int) (StatusAudience, error) {
	var out StatusAudience
	err := c.call(ctx, http.MethodGet, instancePath(instanceID, "/status/audience")+pageQuery(page, limit), nil, &out)
	return out, err
}
