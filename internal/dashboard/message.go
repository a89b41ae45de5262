// What is done with one message of the chat that is open.

package dashboard

import (
	"strings"

	"github.com/recado-project/recado/internal/dashboard/conversation"
	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging"
	"github.com/recado-project/recado/internal/web"
	"github.com/recado-project/recado/internal/web/bubbles"
)

// forwardChoices is how many chats are offered to forward a message to.
const forwardChoices = 30

// messageView is the dialog of a message.
type messageView struct {
	B        bubbles.Bubble
	Message  gateway.Message
	Side     string // the field to write in
	Emojis   []string
	Editable bool
	Chats    []chatLine // to forward it to
}

// showMessage answers with the dialog of a message.
func (p *pages) showMessage(r *frame.Request, found gateway.Instance) error {
	message, err := p.Chats.Message(r.Context(), found.ID, gateway.MessageRef{ID: r.PathValue("messageId")})
	if err != nil {
		return err
	}
	view := messageView{
		B: p.bubbleOf(message), Message: message, Side: inboxSide, Emojis: bubbles.Emojis(),
		Editable: message.FromMe && message.DeletedAt.IsZero() && message.Text != "",
	}
	view.B.Quote = message.ID
	chats, err := p.Chats.List(r.Context(), found.ID, gateway.ChatFilter{}, gateway.PageRequest{Page: 1, Limit: forwardChoices})
	if err != nil {
		return err
	}
	for _, listed := range chats.Items {
		view.Chats = append(view.Chats, chatLine{Address: addressOf(listed.Party), Name: conversation.Name(listed.Party)})
	}
	return r.Fragment("chats", "message", view)
}

// inboxSide names the field to write in: its form is in #inbox-write.
const inboxSide = "inbox"

// A deed changes a message as a form says, and returns what is said then.
type deed func(r *frame.Request, found gateway.Instance, ref gateway.MessageRef) (done web.Word, err error)

// messageDeed is the handler of a deed. Afterwards the chat of the message is shown again.
type messageDeed struct {
	pages *pages
	act   deed
}

func (d messageDeed) handle(r *frame.Request, found gateway.Instance) error {
	message, err := d.pages.Chats.Message(r.Context(), found.ID, gateway.MessageRef{ID: r.PathValue("messageId")})
	if err != nil {
		return err
	}
	done, err := d.act(r, found, gateway.MessageRef{ID: message.ID})
	if err != nil {
		return err
	}
	_, what, _ := strings.Cut(r.URL.Path, r.PathValue("messageId")+"/")
	r.Entry.Detail = what + " " + message.PlatformID + " " + addressOf(message.Chat)
	return r.Done(chatURL(found.ID, gateway.Recipient{Chat: message.Chat.Address()}), done)
}

// react sets the reaction of the account; an empty one takes it back.
func (p *pages) react(r *frame.Request, found gateway.Instance, ref gateway.MessageRef) (web.Word, error) {
	reaction := r.FormValue("reaction")
	if len([]rune(reaction)) > maxReaction {
		return "", gateway.InvalidField("reaction", "must be one emoji")
	}
	done := web.Word("Reacted.")
	if reaction == "" {
		done = web.Word("Reaction removed.")
	}
	return done, p.Messages.React(r.Context(), found.ID, ref, reaction)
}

// maxReaction is how many characters an emoji has at most, with its skin and its parts.
const maxReaction = 16

// edit changes the text of a message, or the caption.
func (p *pages) edit(r *frame.Request, found gateway.Instance, ref gateway.MessageRef) (web.Word, error) {
	text, err := textIn(r)
	if err != nil {
		return "", err
	}
	_, err = p.Messages.Edit(r.Context(), found.ID, ref, text)
	return web.Word("Message edited."), err
}

// remove deletes a message for everybody, or for the account alone.
func (p *pages) remove(r *frame.Request, found gateway.Instance, ref gateway.MessageRef) (web.Word, error) {
	if r.FormValue("for") == "me" {
		return web.Word("Message deleted for this account."), p.Chats.DeleteForMe(r.Context(), found.ID, ref)
	}
	return web.Word("Message deleted for everyone."), p.Messages.Delete(r.Context(), found.ID, ref)
}

// star stars a message, or takes the star away.
func (p *pages) star(r *frame.Request, found gateway.Instance, ref gateway.MessageRef) (web.Word, error) {
	starred := r.FormValue("starred") == "on"
	done := web.Word("Message starred.")
	if !starred {
		done = web.Word("Star removed.")
	}
	return done, p.Chats.Star(r.Context(), found.ID, ref, starred)
}

// forward sends a message on to another chat.
func (p *pages) forward(r *frame.Request, found gateway.Instance, ref gateway.MessageRef) (web.Word, error) {
	to, err := gateway.ParseRecipient(r.FormValue("to"))
	if err != nil {
		return "", gateway.InvalidField("to", err.Error())
	}
	repeat, err := repeatOf(r)
	if err != nil {
		return "", err
	}
	_, err = p.Messages.Forward(r.Context(), messaging.Request{InstanceID: found.ID, To: to, Repeat: repeat}, ref)
	return web.Word("Message forwarded."), err
}

// tellPresence shows the other side that somebody types, records, or has stopped.
func (p *pages) tellPresence(r *frame.Request, found gateway.Instance) error {
	with, err := chatIn(r)
	if err != nil {
		return err
	}
	presence := gateway.Presence(r.FormValue("presence"))
	if presence != gateway.PresenceComposing && presence != gateway.PresenceRecording && presence != gateway.PresencePaused {
		return gateway.InvalidField("presence", "must be composing, recording or paused")
	}
	if err := p.People.SendPresence(r.Context(), found.ID, with, presence); err != nil {
		return err
	}
	return r.Done(chatURL(found.ID, with), "")
}
