// Channels, and what phones do with them.

package control

import (
	"cmp"
	"net/http"
	"strconv"

	"github.com/recado-project/recado/internal/sandbox/channel"
	"github.com/recado-project/recado/internal/sandbox/content"
)

// listChannels answers with all channels, as the other operations of this file answer with one.
func (a *api) listChannels(r *http.Request) (any, error) {
	channels, err := a.config.Channels.List(r.Context())
	return list[channel.Info]{channels}, err
}

func (a *api) getChannel(r *http.Request) (any, error) {
	return a.config.Channels.Get(r.Context(), r.PathValue("channel"))
}

// createChannel makes a channel, with texts in it.
func (a *api) createChannel(r *http.Request) (any, error) {
	var body struct {
		Owner       string   `json:"owner"`
		Name        string   `json:"name"`
		Description string   `json:"description"`
		Private     bool     `json:"private"`
		Posts       []string `json:"posts"`
	}
	if err := decode(r, &body, false); err != nil {
		return nil, err
	}
	var wrong []detail
	if body.Name == "" {
		wrong = append(wrong, detail{"name", "is required"})
	}
	if body.Owner == "" {
		wrong = append(wrong, detail{"owner", "is required"})
	}
	if len(wrong) > 0 {
		return nil, validation(wrong...)
	}
	return a.config.Channels.Create(r.Context(), channel.Draft{
		Owner: body.Owner, Name: []byte(body.Name), Description: []byte(body.Description), Private: body.Private, Posts: body.Posts,
	})
}

// setChannel changes what the platform refuses of a channel.
func (a *api) setChannel(r *http.Request) (any, error) {
	var body struct {
		Private *bool `json:"private"`
		Blocked *bool `json:"blocked"`
	}
	if err := decode(r, &body, false); err != nil {
		return nil, err
	}
	return a.config.Channels.Set(r.Context(), r.PathValue("channel"), body.Private, body.Blocked, nil)
}

func (a *api) deleteChannel(r *http.Request) (any, error) {
	_, err := a.config.Channels.Set(r.Context(), r.PathValue("channel"), nil, nil, new(true))
	return nil, err
}

// writePost writes a text or a file on the phone of the owner, or the payload of any message.
func (a *api) writePost(r *http.Request) (any, error) {
	var body struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Media    string `json:"media"`
		MimeType string `json:"mimeType"`
		Caption  string `json:"caption"`
		FileName string `json:"fileName"`
		Payload  []byte `json:"payload"`
	}
	if err := decode(r, &body, false); err != nil {
		return nil, err
	}
	post := content.Outgoing{Type: "text", Text: body.Text, Caption: body.Caption, FileName: body.FileName}
	switch {
	case body.Media != "":
		file, err := a.readMedia(r, "media", body.Media)
		if err != nil {
			return nil, err
		}
		post.Type, post.Media, post.MimeType = body.Type, file.content, cmp.Or(body.MimeType, file.mimeType)
	case body.Text == "" && body.Payload == nil:
		return nil, validation(detail{"text", "is required, or media, or payload"})
	}
	return a.config.Channels.Write(r.Context(), r.PathValue("channel"), post, body.Payload)
}

// editPost writes another text in place of a post.
func (a *api) editPost(r *http.Request) (any, error) {
	var body struct {
		Text string `json:"text"`
	}
	if err := decode(r, &body, false); err != nil {
		return nil, err
	}
	if body.Text == "" {
		return nil, validation(detail{"text", "is required"})
	}
	number, err := postNumber(r)
	if err != nil {
		return nil, err
	}
	return nil, a.config.Channels.Rewrite(r.Context(), r.PathValue("channel"), number, body.Text)
}

func (a *api) deletePost(r *http.Request) (any, error) {
	number, err := postNumber(r)
	if err != nil {
		return nil, err
	}
	return nil, a.config.Channels.Rewrite(r.Context(), r.PathValue("channel"), number, "")
}

func postNumber(r *http.Request) (int, error) {
	number, err := strconv.Atoi(r.PathValue("post"))
	if err != nil {
		return 0, validation(detail{"post", "must be the number of a post"})
	}
	return number, nil
}

// reactToPost lets a phone react to a post.
func (a *api) reactToPost(r *http.Request) (any, error) {
	var body struct {
		By       string `json:"by"`
		Reaction string `json:"reaction"`
	}
	if err := decode(r, &body, false); err != nil {
		return nil, err
	}
	number, err := postNumber(r)
	if err != nil {
		return nil, err
	}
	return nil, a.config.Channels.React(r.Context(), body.By, r.PathValue("channel"), number, body.Reaction)
}

// followChannel lets a phone follow a channel, and mute it or not.
func (a *api) followChannel(r *http.Request) (any, error) {
	var body struct {
		Muted *bool `json:"muted"`
	}
	if err := decode(r, &body, true); err != nil {
		return nil, err
	}
	return nil, a.config.Channels.Follow(r.Context(), r.PathValue("number"), r.PathValue("channel"), body.Muted)
}

func (a *api) unfollowChannel(r *http.Request) (any, error) {
	return nil, a.config.Channels.Unfollow(r.Context(), r.PathValue("number"), r.PathValue("channel"))
}
