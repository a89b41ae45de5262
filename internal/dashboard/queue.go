// The messages of an instance that wait to be sent, and how people take them out again.

package dashboard

import (
	"cmp"
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/dashboard/sentence"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging/queue"
	"github.com/recado-project/recado/internal/web"
	"github.com/recado-project/recado/internal/web/bubbles"
)

const (
	// queuedAtOnce is how many rows a page of the list has.
	queuedAtOnce = 25
	// queueAge is how old what open pages show of a queue may be: a message that comes into
	// it, or is cancelled, is no event.
	queueAge = 3 * time.Second
	// maxBeginning is how much of a text the list shows, in characters.
	maxBeginning = 140
	// farAway is from when on a moment has its date.
	farAway = 12 * time.Hour
)

// queueView is the list.
type queueView struct {
	instanceHead

	Rows          []queuedRow
	Total         int
	Query         string // of this page of the list, with its question mark
	Before, After string // the first page and the next one; empty for none
	LiveURL       string
}

// queuedRow is one line.
type queuedRow struct {
	Waiting queue.Waiting

	Chat      string
	Kind      web.Word
	Beginning string
	Doing     state
	Far       bool // Until has its date
}

// queueView returns what makes the list.
func (p *pages) queueView(r *frame.Request) func(ctx context.Context) (queueView, error) {
	id, role, page := r.PathValue("instanceId"), r.Visitor.Actor.Role, frame.PageOf(r.URL.Query())
	path := "/instances/" + id + "/queue"
	return func(ctx context.Context) (queueView, error) {
		found, err := p.Instances.Get(ctx, id)
		if err != nil {
			return queueView{}, err
		}
		view := queueView{instanceHead: headOf(found, "queue", role)}
		query := url.Values{}
		if page > 1 {
			query.Set("page", strconv.Itoa(page))
		}
		view.LiveURL, view.Query = frame.WithQuery(path+"/live", query), frame.WithQuery("", query)
		listed, err := p.Queue.List(ctx, id, gateway.PageRequest{Page: page, Limit: queuedAtOnce})
		if err != nil {
			return queueView{}, err
		}
		for _, waiting := range listed.Items {
			view.Rows = append(view.Rows, p.queuedRow(waiting))
		}
		view.Total = listed.Total
		view.Before, view.After = frame.Around(path, query, page, queuedAtOnce, listed.Total)
		return view, nil
	}
}

// queuedRow returns the line of a message.
func (p *pages) queuedRow(waiting queue.Waiting) queuedRow {
	row := queuedRow{
		Waiting: waiting, Chat: string(waiting.To.Chat), Kind: sentence.Kind(waiting.Type), Beginning: bubbles.Line(waiting.Text, maxBeginning),
		Doing: waitingState(waiting), Far: waiting.Until.Sub(p.Now()) > farAway,
	}
	if row.Chat == "" {
		row.Chat = "+" + waiting.To.Number
	}
	return row
}

// Cancellable reports whether the message can still be taken out.
func (r queuedRow) Cancellable() bool { return r.Waiting.State != queue.StateSending }

// TriedAt is until when the message is held; zero if nobody knows.
func (r queuedRow) TriedAt() time.Time {
	if r.Waiting.Reason == queue.ReasonNotConnected { // Until is only when the queue looks again
		return time.Time{}
	}
	return r.Waiting.Until
}

// waitingState says what a message waits for.
func waitingState(waiting queue.Waiting) state {
	switch waiting.State {
	case queue.StateScheduled:
		return state{"info", web.Word("Scheduled"), "", ""}
	case queue.StateSending:
		return state{"good", web.Word("Sending"), web.Word("It can no longer be cancelled."), ""}
	case queue.StateHeld:
		return state{"wait", web.Word("Held"), heldBecause(waiting.Reason), ""}
	default:
		return state{"wait", web.Word("Waiting"), web.Word("It is due and waiting its turn."), ""}
	}
}

// heldBecause says why a message that is due is not sent yet.
func heldBecause(reason queue.Reason) web.Word {
	words := map[queue.Reason]web.Word{
		queue.ReasonNotConnected: web.Word("The instance is not connected. The message will be sent once it is."),
		queue.ReasonPace:         web.Word("The instance is keeping its pace."),
		queue.ReasonNewChats:     web.Word("The instance has reached its limit for new chats."),
		queue.ReasonRestricted:   web.Word("The platform is restricting new chats."),
	}
	return cmp.Or(words[reason], web.Word("An attempt failed. It will be retried automatically."))
}

// waiting returns how many messages of an instance wait.
func (p *pages) waiting(ctx context.Context, id string) (int, error) {
	listed, err := p.Queue.List(ctx, id, gateway.PageRequest{Page: 1, Limit: 1})
	return listed.Total, err
}

// cancelQueued takes one message out of the queue.
func (p *pages) cancelQueued(r *frame.Request, found gateway.Instance) error {
	id := r.PathValue("messageId")
	was, err := p.Queue.Cancel(r.Context(), found.ID, id)
	if err != nil {
		return err
	}
	if !was {
		return gateway.Errorf(gateway.NotFound, gateway.CodeMessageNotFound, "the message does not wait any more")
	}
	r.Entry.Detail = id
	return p.cancelled(r, found.ID, web.Word("Cancelled. The message will not be sent."))
}

// cancelQueue takes all messages out of the queue, but those that are being sent.
func (p *pages) cancelQueue(r *frame.Request, found gateway.Instance) error {
	n, err := p.Queue.CancelAll(r.Context(), found.ID)
	if err != nil {
		return err
	}
	r.Entry.Detail = strconv.Itoa(n)
	switch n {
	case 0:
		r.Entry.Action = "" // nothing was done
		return p.cancelled(r, found.ID, web.Word("There is nothing to cancel."))
	case 1:
		return p.cancelled(r, found.ID, web.Word("Cancelled. One message will not be sent."))
	default:
		return p.cancelled(r, found.ID, web.Word("Cancelled. %d messages will not be sent."), n)
	}
}

// cancelled answers that something was taken out of the queue, with the list as it is now:
// there is no event that would bring it.
func (p *pages) cancelled(r *frame.Request, id string, text web.Word, args ...any) error {
	if !r.Live() {
		return r.Done("/instances/"+id+"/queue", text, args...)
	}
	view, err := p.queueView(r)(r.Context())
	if err != nil {
		return err
	}
	web.Notice(r.W, r.Text(text, args...))
	return r.Fragment("queue", "view", view)
}
