// How people arrange the chat that is open, as on the phone: archive, pin, mute, mark as read, labels.

package dashboard

import (
	"context"
	"net/url"
	"slices"
	"time"

	"github.com/recado-project/recado/internal/chat"
	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/web"
)

// arranged is how a chat is arranged, as pages show it.
type arranged struct {
	Archived, Pinned, Muted bool
	Forever                 bool // it is muted without an end
	MutedUntil              time.Time
	Unread                  bool // there is something to read, or it is marked so
	Reminder                bool // it is marked as unread, and nothing is to be read
}

// arrangedOf returns how a chat is arranged now.
func arrangedOf(listed chat.Listed, now time.Time) arranged {
	return arranged{
		Archived: listed.Archived, Pinned: listed.Pinned, Muted: listed.MutedUntil.After(now),
		Forever: !listed.MutedUntil.Before(gateway.MutedForever()), MutedUntil: listed.MutedUntil,
		Unread: listed.Unread > 0 || listed.MarkedUnread, Reminder: listed.MarkedUnread && listed.Unread == 0,
	}
}

// Any reports whether there is a mark to show beside the chat's name.
func (a arranged) Any() bool { return a.Archived || a.Pinned || a.Muted }

// arrangement returns the change that a button is for, and what is said when it is made.
func arrangement(button string, now time.Time) (change gateway.ChatChange, done web.Word, ok bool) {
	switch button {
	case "archive":
		return gateway.ChatChange{Archived: new(true)}, web.Word("The chat is archived."), true
	case "unarchive":
		return gateway.ChatChange{Archived: new(false)}, web.Word("The chat is no longer archived."), true
	case "pin":
		return gateway.ChatChange{Pinned: new(true)}, web.Word("The chat is pinned."), true
	case "unpin":
		return gateway.ChatChange{Pinned: new(false)}, web.Word("The chat is no longer pinned."), true
	case "mute-8h":
		return gateway.ChatChange{MutedUntil: new(now.Add(8 * time.Hour))}, web.Word("The chat is muted for 8 hours."), true
	case "mute-week":
		return gateway.ChatChange{MutedUntil: new(now.AddDate(0, 0, 7))}, web.Word("The chat is muted for a week."), true
	case "mute":
		return gateway.ChatChange{MutedUntil: new(gateway.MutedForever())}, web.Word("The chat is muted."), true
	case "unmute":
		return gateway.ChatChange{MutedUntil: new(time.Time)}, web.Word("The chat is no longer muted."), true
	case "read":
		return gateway.ChatChange{Read: new(true)}, web.Word("The chat is read."), true
	case "unread":
		return gateway.ChatChange{Read: new(false)}, web.Word("The chat is marked as unread."), true
	default:
		return gateway.ChatChange{}, "", false
	}
}

// arrangeChat makes the change that a button is for, on all devices of the account.
func (p *pages) arrangeChat(r *frame.Request, found gateway.Instance) error {
	with, err := chatIn(r)
	if err != nil {
		return err
	}
	button := r.FormValue("change")
	change, done, ok := arrangement(button, p.Now().UTC())
	if !ok {
		return gateway.InvalidField("change", "is nothing that can be done with a chat")
	}
	if _, err := p.Chats.Change(r.Context(), found.ID, with, change); err != nil {
		return err
	}
	r.Entry.Detail = button + " " + string(with.Chat)
	return r.Done(chatURL(found.ID, with), done)
}

// chatIn reads which chat a form is about.
func chatIn(r *frame.Request) (gateway.Recipient, error) {
	open, ok := gateway.ParseJID(r.FormValue("chat"))
	if !ok {
		return gateway.Recipient{}, gateway.InvalidField("chat", "must be a chat ID")
	}
	return gateway.Recipient{Chat: open}, nil
}

// chatURL is the address of the page with a chat open.
func chatURL(instanceID string, with gateway.Recipient) string {
	return frame.WithQuery("/instances/"+instanceID+"/chats", url.Values{"chat": {string(with.Chat)}})
}

// labelHues is how many colours labels are told apart by.
const labelHues = 8

// labelLine is a label as pages show it.
type labelLine struct {
	gateway.Label

	On bool // the chat that is open has it
}

// Hue is the number of its colour on pages.
func (l labelLine) Hue() int { return max(0, l.Color) % labelHues }

// labelsOf returns the labels of an instance, in their order.
func (p *pages) labelsOf(ctx context.Context, id string) ([]labelLine, error) {
	page, err := p.Labels.List(ctx, id, gateway.PageRequest{Page: 1, Limit: gateway.MaxLabels})
	if err != nil {
		return nil, err
	}
	lines := make([]labelLine, len(page.Items))
	for n, label := range page.Items {
		lines[n].Label = label
	}
	return lines, nil
}

// among returns all labels, with a mark at those that are in ids.
func among(all []labelLine, ids []string) []labelLine {
	marked := slices.Clone(all)
	for n := range marked {
		marked[n].On = slices.Contains(ids, marked[n].ID)
	}
	return marked
}

// having returns the labels that are in ids.
func having(all []labelLine, ids []string) []labelLine {
	if len(ids) == 0 {
		return nil
	}
	return slices.DeleteFunc(among(all, ids), func(l labelLine) bool { return !l.On })
}

// labelChat puts a label on a chat, or takes it off, on all devices of the account.
func (p *pages) labelChat(r *frame.Request, found gateway.Instance) error {
	with, err := chatIn(r)
	if err != nil {
		return err
	}
	label, did, done := r.FormValue("on"), "label ", web.Word("The chat has the label.")
	on := label != ""
	if !on {
		label, did, done = r.FormValue("off"), "unlabel ", web.Word("The chat no longer has the label.")
	}
	if label == "" {
		return gateway.InvalidField("on", "must name a label, or off must")
	}
	if err := p.Labels.AssignToChat(r.Context(), found.ID, label, with, on); err != nil {
		return err
	}
	r.Entry.Detail = did + label + " " + string(with.Chat)
	return r.Done(chatURL(found.ID, with), done)
}
