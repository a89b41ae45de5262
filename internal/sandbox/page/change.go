// What somebody does to a message on a phone.

package page

import (
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/sandbox/phone"
	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/web"
	"github.com/recado-project/recado/internal/web/bubbles"
)

// message returns the message that the path names.
func (p *Page) message(r *request) (phone.Bubble, error) {
	at, err := r.place()
	if err != nil {
		return phone.Bubble{}, err
	}
	return p.config.Phones.Bubble(r.Context(), r.number(), at)
}

// askChange answers with the dialog of what can be done to a message.
func (p *Page) askChange(r *request) error {
	m, err := p.message(r)
	if err != nil {
		return err
	}
	where := r.side()
	shown := bubbleOf(where, r.number(), m, false)
	return r.dialog("change", struct {
		B                   bubbles.Bubble
		ID, Chat, From, Raw string
		Sha                 string
		Emojis              []string
		Editable, Media     bool
		Foreign             bool // somebody else has sent it
		Side                string
	}{
		B: shown, ID: bubbles.Line(m.MessageID, bubbles.MaxLine), Chat: m.Chat, From: m.From, Raw: m.Text, Sha: m.MediaSHA256, Emojis: bubbles.Emojis(),
		Editable: m.FromMe && m.Type == "text", Media: m.MediaSHA256 != "", Foreign: !m.FromMe, Side: where,
	})
}

// change does something to a message.
func (p *Page) change(r *request) error {
	if err := r.read(); err != nil {
		return err
	}
	m, err := p.message(r)
	if err != nil {
		return err
	}
	phones, ctx, number := p.config.Phones, r.Context(), r.number()
	var said web.Word
	switch r.PathValue("what") {
	case "reaction":
		err = phones.React(ctx, number, m.MessageID, bubbles.Line(r.field("reaction"), maxEmoji))
	case "vote":
		err = phones.Vote(ctx, number, m.MessageID, r.Form["option"])
	case "response":
		err = phones.Respond(ctx, number, m.MessageID, content.Response{Response: r.field("response")})
	case "cancel":
		err = phones.CancelEvent(ctx, number, m.MessageID)
	case "edit":
		err = phones.EditMessage(ctx, number, m.MessageID, r.field("text"))
	case "delete":
		err = phones.DeleteMessage(ctx, number, m.MessageID)
	case "pin":
		err = phones.PinMessage(ctx, number, m.MessageID, pinFor)
	case "unpin":
		err = phones.PinMessage(ctx, number, m.MessageID, 0)
	case "star":
		err = p.config.ChatStates.Star(ctx, number, m.MessageID, !m.Starred)
	case "delete-for-me":
		err = p.config.ChatStates.DeleteForMe(ctx, number, m.MessageID)
	case "read":
		err = phones.MarkRead(ctx, number, m.MessageID, false)
	case "played":
		err = phones.MarkRead(ctx, number, m.MessageID, true)
	case "forget":
		said = web.Word("The media host has lost the file.")
		err = phones.ForgetMedia(ctx, number, m.MessageID, r.on("everywhere"))
	default:
		err = refusal.NotFoundf("this can't be done to a message")
	}
	if err != nil {
		return err
	}
	return r.done(said)
}

// pinFor is for how many seconds messages are pinned: the choice that phones propose.
const pinFor = 7 * 24 * 60 * 60

// maxEmoji bounds a reaction in characters: some of one picture have many.
const maxEmoji = 16

// openOnce answers with the content of a message that can be bubbles.Opened once, which counts
// as bubbles.Opened from now on.
func (p *Page) openOnce(r *request) error {
	m, err := p.message(r)
	if err != nil {
		return err
	}
	if !m.FromMe && m.Status != bubbles.Opened {
		if err := p.config.Phones.MarkRead(r.Context(), r.number(), m.MessageID, true); err != nil {
			return err
		}
	}
	return r.dialog("once", bubbleOf(left, r.number(), m, false))
}
