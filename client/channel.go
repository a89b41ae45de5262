// Channels: those that the account follows or owns, and their posts.

package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// The roles of a ChannelDetails.
const (
	ChannelOwner    = "owner"
	ChannelAdmin    = "admin"
	ChannelFollower = "follower"
	ChannelGuest    = "guest" // the account does not follow it
)

// ChannelDetails are what is known about a channel.
type ChannelDetails struct {
	ID          string  `json:"id"`
	Name        string  `json:"name"`
	Description *string `json:"description"` // nil if there is none
	Link        *string `json:"link"`        // nil if it is not known
	PictureURL  *string `json:"pictureUrl"`  // nil if it has none
	Role        string  `json:"role"`        // of the account
	Muted       bool    `json:"muted"`
	Verified    bool    `json:"verified"`
	Followers   int     `json:"followers"`
	Available   bool    `json:"available"` // false if the platform has suspended it
	Creation    int64   `json:"creation"`  // Unix time in seconds
}

// NewChannel is a channel to be made.
type NewChannel struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Picture     string `json:"picture,omitempty"` // a data URI or an http(s) URL
}

// ChannelPost is a post of a channel.
type ChannelPost struct {
	ServerID  int             `json:"serverId"` // its number in the channel
	MessageID string          `json:"messageId"`
	Timestamp time.Time       `json:"timestamp"`
	Type      string          `json:"type"`
	Text      *string         `json:"text"`
	Caption   *string         `json:"caption"`
	MimeType  *string         `json:"mimeType"` // of its file; nil if it has none
	Views     int             `json:"views"`
	Reactions []PostReactions `json:"reactions"`
	Deleted   bool            `json:"deleted"`
}

// PostReactions is how many have reacted to a post with an emoji.
type PostReactions struct {
	Reaction string `json:"reaction"`
	Count    int    `json:"count"`
}

// PostsQuery chooses among the posts of a channel. Its zero value is the newest.
type PostsQuery struct {
	Before int // the serverId of a post: those before it
	After  int // the serverId of a post: those after it
	Limit  int // 0: 50
}

// ListChannels returns a page of the channels that the account follows or owns; only those with
// name in their name, unless it is empty.
func (c *Client) ListChannels(ctx context.Context, instanceID, name string, page, limit int) (Page[ChannelDetails], error) {
	query := url.Values{}
	if name != "" {
		query.Set("name", name)
	}
	var out Page[ChannelDetails]
	err := c.call(ctx, http.MethodGet, instancePath(instanceID, "/channels")+withQuery(pageQuery(page, limit), query), nil, &out)
	return out, err
}

// Channels yields all of them, fetched page by page. An error ends the sequence.
func (c *Client) Channels(ctx context.Context, instanceID, name string) iter.Seq2[ChannelDetails, error] {
	return items(func(page int) (Page[ChannelDetails], error) { return c.ListChannels(ctx, instanceID, name, page, 0) })
}

// GetChannel asks for a channel, by its ID or its invite link.
func (c *Client) GetChannel(ctx context.Context, instanceID, channel string) (ChannelDetails, error) {
	var out ChannelDetails
	err := c.call(ctx, http.MethodGet, channelPath(instanceID, channel, ""), nil, &out)
	return out, err
}

// CreateChannel makes a channel that the account owns.
func (c *Client) CreateChannel(ctx context.Context, instanceID string, channel NewChannel) (ChannelDetails, error) {
	var out ChannelDetails
	err := c.call(ctx, http.MethodPost, instancePath(instanceID, "/channels"), channel, &out)
	return out, err
}

// FollowChannel follows a channel, by its ID or its invite link.
func (c *Client) FollowChannel(ctx context.Context, instanceID, channel string) error {
	return c.call(ctx, http.MethodPost, channelPath(instanceID, channel, "/follow"), nil, nil)
}

// UnfollowChannel unfollows a channel.
func (c *Client) UnfollowChannel(ctx context.Context, instanceID, channel string) error {
	return c.call(ctx, http.MethodDelete, channelPath(instanceID, channel, "/follow"), nil, nil)
}

// MuteChannel mutes a channel that the account follows.
func (c *Client) MuteChannel(ctx context.Context, instanceID, channel string) error {
	return c.call(ctx, http.MethodPost, channelPath(instanceID, channel, "/mute"), nil, nil)
}

// UnmuteChannel ends the mute of a channel.
func (c *Client) UnmuteChannel(ctx context.Context, instanceID, channel string) error {
	return c.call(ctx, http.MethodDelete, channelPath(instanceID, channel, "/mute"), nil, nil)
}

// ChannelPosts asks for posts of a channel, oldest first.
func (c *Client) ChannelPosts(ctx context.Context, instanceID, channel string, query PostsQuery) ([]ChannelPost, error) {
	values := url.Values{}
	for name, value := range map[string]int{"before": query.Before, "after": query.After, "limit": query.Limit} {
		if value != 0 {
			values.Set(name, strconv.Itoa(value))
		}
	}
	var out struct{ Data []ChannelPost }
	err := c.call(ctx, http.MethodGet, channelPath(instanceID, channel, "/messages")+withQuery("", values), nil, &out)
	return out.Data, err
}

// ReactToPost sets the account's reaction to a post of a channel, which is named by its serverId
// or, among the newest, by its platform identifier. An empty reaction removes it.
func (c *Client) ReactToPost(ctx context.Context, instanceID, channel, post, reaction string) error {
	return c.call(ctx, http.MethodPost, channelPath(instanceID, channel, "/messages/"+url.PathEscape(post)+"/reaction"), map[string]string{"reaction": reaction}, nil)
}

func channelPath(instanceID, channel, rest string) string {
	return instancePath(instanceID, "/channels/"+url.PathEscape(channel)+rest)
}
