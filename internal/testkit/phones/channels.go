// Channels, and what phones do with them.

package phones

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/recado-project/recado/internal/sandbox/channel"
)

// CreateChannel makes a channel with these posts.
func (p *API) CreateChannel(tb testing.TB, owner, name string, posts ...string) channel.Info {
	tb.Helper()
	return ask[channel.Info](tb, p, http.MethodPost, "/channels", map[string]any{"owner": owner, "name": name, "description": "made by a test", "posts": posts})
}

// Channel returns a channel.
func (p *API) Channel(tb testing.TB, id string) channel.Info {
	tb.Helper()
	return ask[channel.Info](tb, p, http.MethodGet, "/channels/"+id, nil)
}

// SetChannel changes what the platform refuses of a channel: private, blocked.
func (p *API) SetChannel(tb testing.TB, id string, change map[string]any) {
	tb.Helper()
	p.call(tb, http.MethodPatch, "/channels/"+id, change)
}

// DeleteChannel deletes a channel.
func (p *API) DeleteChannel(tb testing.TB, id string) {
	tb.Helper()
	p.call(tb, http.MethodDelete, "/channels/"+id, nil)
}

// Post writes a post in the owner's name: a text, or the payload of any message.
func (p *API) Post(tb testing.TB, id, text string, payload []byte) channel.Post {
	tb.Helper()
	return ask[channel.Post](tb, p, http.MethodPost, "/channels/"+id+"/posts", map[string]any{"text": text, "payload": payload})
}

// PostFile writes a post with a file, given as a data URI, in the owner's name.
func (p *API) PostFile(tb testing.TB, id, kind, media, caption string) channel.Post {
	tb.Helper()
	return ask[channel.Post](tb, p, http.MethodPost, "/channels/"+id+"/posts", map[string]any{"type": kind, "media": media, "caption": caption})
}

// Rewrite edits a post in the owner's name; "" deletes it.
func (p *API) Rewrite(tb testing.TB, id string, serverID int, text string) {
	tb.Helper()
	path, method, body := fmt.Sprintf("/channels/%s/posts/%d", id, serverID), http.MethodPatch, map[string]any{"text": text}
	if text == "" {
		method, body = http.MethodDelete, nil
	}
	p.call(tb, method, path, body)
}

// ReactToPost lets a phone react to a post.
func (p *API) ReactToPost(tb testing.TB, number, id string, serverID int, reaction string) {
	tb.Helper()
	p.call(tb, http.MethodPost, fmt.Sprintf("/channels/%s/posts/%d/reaction", id, serverID), map[string]any{"by": number, "reaction": reaction})
}

// FollowChannel lets a phone follow a channel, muted or not.
func (p *API) FollowChannel(tb testing.TB, number, id string, muted bool) {
	tb.Helper()
	p.call(tb, http.MethodPut, "/phones/"+number+"/channels/"+id, map[string]any{"muted": muted})
}

// UnfollowChannel makes a phone unfollow a channel.
func (p *API) UnfollowChannel(tb testing.TB, number, id string) {
	tb.Helper()
	p.call(tb, http.MethodDelete, "/phones/"+number+"/channels/"+id, nil)
}
