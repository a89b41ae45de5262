package control

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/sandbox/phone"
)

// listMessages answers with the messages that a phone shows, of one chat if the query
// names it.
func (a *api) listMessages(r *http.Request) (any, error) {
	messages, err := a.config.Phones.Messages(r.Context(), r.PathValue("number"), r.URL.Query().Get("chat"))
	return list[content.Shown]{messages}, err
}

// listProblems answers with the messages that do not look right on a phone.
func (a *api) listProblems(r *http.Request) (any, error) {
	problems, err := a.config.Phones.Problems(r.Context())
	return list[phone.Troubled]{problems}, err
}

// sent is the answer to a request that sends a message.
type sent struct {
	MessageID string `json:"messageId"`
}

// missing returns the fields that a message needs and does not have.
func missing(m *content.Outgoing) []detail {
	types := []string{"text", "image", "video", "voice", "audio", "document", "location", "contact", "sticker", "poll", "event", "order", "group_invite", "selection", "album", "content", "unsupported"}
	var wrong []detail
	require := func(field string, present bool) {
		if !present {
			wrong = append(wrong, detail{field, "is required"})
		}
	}
	require("to", m.To != "")
	switch m.Type {
	case "text":
		require("text", m.Text != "")
	case "location":
		require("latitude", m.Latitude != nil)
		require("longitude", m.Longitude != nil)
	case "contact":
		require("contact", m.Contact != nil)
	case "poll":
		require("text", m.Text != "")
		require("options", len(m.Options) > 0)
	case "event", "order", "group_invite", "selection", "album", "content", "unsupported": // composing checks them
	default:
		if !slices.Contains(types, m.Type) {
			return append(wrong, detail{"type", "must be one of: " + strings.Join(types, ", ")})
		}
		require("media", m.MediaSource != "")
	}
	return wrong
}

// sendMessage lets a phone send a message.
func (a *api) sendMessage(r *http.Request) (any, error) {
	message := content.Outgoing{MaxAnswers: 1}
	if err := decode(r, &message, false); err != nil {
		return nil, err
	}
	if wrong := missing(&message); len(wrong) > 0 {
		return nil, validation(wrong...)
	}
	if message.MediaSource != "" {
		file, err := a.readMedia(r, "media", message.MediaSource)
		if err != nil {
			return nil, err
		}
		message.Media, message.MimeType = file.content, cmp.Or(message.MimeType, file.mimeType)
	}
	id, err := a.config.Phones.SendMessage(r.Context(), r.PathValue("number"), message)
	return sent{id}, err
}

func (a *api) markRead(r *http.Request) (any, error) {
	return nil, a.config.Phones.MarkRead(r.Context(), r.PathValue("number"), r.PathValue("message"), false)
}

func (a *api) markPlayed(r *http.Request) (any, error) {
	return nil, a.config.Phones.MarkRead(r.Context(), r.PathValue("number"), r.PathValue("message"), true)
}

func (a *api) react(r *http.Request) (any, error) {
	var body struct {
		Reaction *string `json:"reaction"`
	}
	if err := decode(r, &body, false); err != nil {
		return nil, err
	}
	if body.Reaction == nil {
		return nil, validation(detail{"reaction", "is required; an empty one takes the last one back"})
	}
	return nil, a.config.Phones.React(r.Context(), r.PathValue("number"), r.PathValue("message"), *body.Reaction)
}

func (a *api) vote(r *http.Request) (any, error) {
	var body struct {
		Options []string `json:"options"`
	}
	if err := decode(r, &body, false); err != nil {
		return nil, err
	}
	if body.Options == nil {
		return nil, validation(detail{"options", "is required; an empty list takes the vote back"})
	}
	return nil, a.config.Phones.Vote(r.Context(), r.PathValue("number"), r.PathValue("message"), body.Options)
}

func (a *api) respondToEvent(r *http.Request) (any, error) {
	var body struct {
		Response    string `json:"response"`
		ExtraGuests int    `json:"extraGuests"`
	}
	if err := decode(r, &body, false); err != nil {
		return nil, err
	}
	response := content.Response{Response: body.Response, ExtraGuests: body.ExtraGuests}
	return nil, a.config.Phones.Respond(r.Context(), r.PathValue("number"), r.PathValue("message"), response)
}

func (a *api) cancelEvent(r *http.Request) (any, error) {
	return nil, a.config.Phones.CancelEvent(r.Context(), r.PathValue("number"), r.PathValue("message"))
}

func (a *api) editMessage(r *http.Request) (any, error) {
	var body struct {
		Text string `json:"text"`
	}
	if err := decode(r, &body, false); err != nil {
		return nil, err
	}
	return nil, a.config.Phones.EditMessage(r.Context(), r.PathValue("number"), r.PathValue("message"), body.Text)
}

func (a *api) deleteMessage(r *http.Request) (any, error) {
	return nil, a.config.Phones.DeleteMessage(r.Context(), r.PathValue("number"), r.PathValue("message"))
}

func (a *api) pinMessage(r *http.Request) (any, error) {
	var body struct {
		Seconds *uint32 `json:"seconds"`
	}
	if err := decode(r, &body, false); err != nil {
		return nil, err
	}
	if body.Seconds == nil {
		return nil, validation(detail{"seconds", "is required; 0 unpins the message"})
	}
	return nil, a.config.Phones.PinMessage(r.Context(), r.PathValue("number"), r.PathValue("message"), *body.Seconds)
}

func (a *api) forgetMedia(r *http.Request) (any, error) {
	everywhere := r.URL.Query().Get("everywhere") == "true"
	return nil, a.config.Phones.ForgetMedia(r.Context(), r.PathValue("number"), r.PathValue("message"), everywhere)
}
