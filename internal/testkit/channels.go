// Channels on the sandbox's phones.

package testkit

import (
	"fmt"
	"net/http"
	"testing"
)

// Channel is a channel as the control API answers it.
type Channel struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Invite      string `json:"invite"`
	Owner       string `json:"owner"`
	Picture     bool   `json:"picture"`
	Followers   []struct {
		Number string `json:"number"`
		Muted  bool   `json:"muted"`
	} `json:"followers"`
	Posts []ChannelPost `json:"posts"`
}

// ChannelPost is a post as the control API answers it.
type ChannelPost struct {
	ServerID    int            `json:"serverId"`
	MessageID   string         `json:"messageId"`
	Type        string         `json:"type"`
	Text        string         `json:"text"`
	Caption     string         `json:"caption"`
	MimeType    string         `json:"mimeType"`
	FileName    string         `json:"fileName"`
	Picture     bool           `json:"picture"`
	MediaSHA256 string         `json:"mediaSha256"`
	MediaSize   *int64         `json:"mediaSize"`
	Deleted     bool           `json:"deleted"`
	Reactions   map[string]int `json:"reactions"`
}

// CreateChannel makes a channel with these posts.
func (p *Phones) CreateChannel(tb testing.TB, owner, name string, posts ...string) Channel {
	tb.Helper()
	var channel Channel
	p.call(tb, http.MethodPost, "/channels", map[string]any{"owner": owner, "name": name, "description": "made by a test", "posts": posts}, &channel)
	return channel
}

// Channel returns a channel.
func (p *Phones) Channel(tb testing.TB, id string) Channel {
	tb.Helper()
	var channel Channel
	p.call(tb, http.MethodGet, "/channels/"+id, nil, &channel)
	return channel
}

// SetChannel changes what the platform refuses of a channel: private, blocked.
func (p *Phones) SetChannel(tb testing.TB, id string, change map[string]any) {
	tb.Helper()
	p.call(tb, http.MethodPatch, "/channels/"+id, change, nil)
}

// DeleteChannel deletes a channel.
func (p *Phones) DeleteChannel(tb testing.TB, id string) {
	tb.Helper()
	p.call(tb, http.MethodDelete, "/channels/"+id, nil, nil)
}

// Post writes a post in the owner's name: a text, or the payload of any message.
func (p *Phones) Post(tb testing.TB, id, text string, payload []byte) ChannelPost {
	tb.Helper()
	var post ChannelPost
	p.call(tb, http.MethodPost, "/channels/"+id+"/posts", map[string]any{"text": text, "payload": payload}, &post)
	return post
}

// PostFile writes a post with a file, given as a data URI, in the owner's name.
func (p *Phones) PostFile(tb testing.TB, id, kind, media, caption string) ChannelPost {
	tb.Helper()
	var post ChannelPost
	p.call(tb, http.MethodPost, "/channels/"+id+"/posts", map[string]any{"type": kind, "media": media, "caption": caption}, &post)
	return post
}

// Rewrite edits a post in the owner's name; "" deletes it.
func (p *Phones) Rewrite(tb testing.TB, id string, serverID int, text string) {
	tb.Helper()
	path, method, body := fmt.Sprintf("/channels/%s/posts/%d", id, serverID), http.MethodPatch, map[string]any{"text": text}
	if text == "" {
		method, body = http.MethodDelete, nil
	}
	p.call(tb, method, path, body, nil)
}

// ReactToPost lets a phone react to a post.
func (p *Phones) ReactToPost(tb testing.TB, number, id string, serverID int, reaction string) {
	tb.Helper()
	p.call(tb, http.MethodPost, fmt.Sprintf("/channels/%s/posts/%d/reaction", id, serverID), map[string]any{"by": number, "reaction": reaction}, nil)
}

// FollowChannel lets a phone follow a channel, muted or not.
func (p *Phones) FollowChannel(tb testing.TB, number, id string, muted bool) {
	tb.Helper()
	p.call(tb, http.MethodPut, "/phones/"+number+"/channels/"+id, map[string]any{"muted": muted}, nil)
}

// UnfollowChannel lets a phone follow a channel no more.
func (p *Phones) UnfollowChannel(tb testing.TB, number, id string) {
	tb.Helper()
	p.call(tb, http.MethodDelete, "/phones/"+number+"/channels/"+id, nil, nil)
}
