// The labels of chats: which there are, and how people put them on the chat that is open.

package dashboard

import (
	"context"
	"slices"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/web"
)

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
