// The deliveries of an instance's webhook: what the endpoint said, dead letters, replays.

package dashboard

import (
	"context"
	"maps"
	"net/url"
	"strconv"
	"time"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/web"
	"github.com/recado-project/recado/internal/webhook"
)

// deliveriesAtOnce is how many rows a page of the list has.
const deliveriesAtOnce = 25

// deliveriesView is the list.
type deliveriesView struct {
	webhookHead

	Delivery      state
	Attempts      *attempts // the newest ones; nil for none
	Rows          []deliveryRow
	Before, After string // the first page and the next one; empty for none
	LiveURL       string
}

// deliveryRow is one line.
type deliveryRow struct {
	webhook.Delivery

	Outcome state
	Coming  bool // the next try has a time that is not past
}

// Held reports whether the event waits for something else than a time.
func (d deliveryRow) Held() bool { return d.State == webhook.DeliveryBlocked && !d.Coming }

// deliveriesView returns what makes the list.
func (p *pages) deliveriesView(r *frame.Request) func(ctx context.Context) (deliveriesView, error) {
	id, page := r.PathValue("instanceId"), frame.PageOf(r.URL.Query())
	labels := [3]string{r.Text(web.Word("Time")), r.Text(web.Word("Delivered")), r.Text(web.Word("Failed"))}
	return func(ctx context.Context) (deliveriesView, error) {
		head, err := p.webhookHead(ctx, r, id)
		if err != nil {
			return deliveriesView{}, err
		}
		view := deliveriesView{webhookHead: head}
		path, query := "/instances/"+id+"/webhook/deliveries", url.Values{}
		if which := head.which(); which != "" {
			query.Set(whichParam, which)
		}
		live := maps.Clone(query)
		if page > 1 {
			live.Set("page", strconv.Itoa(page))
		}
		view.LiveURL = frame.WithQuery(path+"/live", live)
		if head.Hook.ID == "" {
			return view, nil
		}
		ref := webhook.Ref{InstanceID: id, ID: head.Hook.ID}
		listed, err := p.Webhooks.Deliveries(ctx, ref, gateway.PageRequest{Page: page, Limit: deliveriesAtOnce})
		if err != nil {
			return deliveriesView{}, err
		}
		condition, err := p.Webhooks.Condition(ctx, ref)
		if err != nil {
			return deliveriesView{}, err
		}
		view.Delivery = deliveryState(condition)
		for _, delivery := range listed.Items {
			view.Rows = append(view.Rows, deliveryRow{Delivery: delivery, Outcome: outcomeOf(delivery.State), Coming: delivery.NextTry.After(p.Now())})
		}
		newest, err := p.Webhooks.Deliveries(ctx, ref, gateway.PageRequest{Page: 1, Limit: attemptsRead})
		if err != nil {
			return deliveriesView{}, err
		}
		view.Attempts = attemptsOf(newest.Items, p.Now(), labels)
		view.Before, view.After = frame.Around(path, query, page, deliveriesAtOnce, listed.Total)
		return view, nil
	}
}

// outcomeOf says what became of an event.
func outcomeOf(of webhook.DeliveryState) state {
	switch of {
	case webhook.DeliveryBlocked:
		return state{"wait", web.Word("Blocked"), web.Word("This event fails while others succeed. Later events of its chat wait until it is delivered or given up."), ""}
	case webhook.DeliveryDeadLetter:
		return state{"bad", web.Word("Dead letter"), web.Word("This event was given up after its last attempt."), ""}
	case webhook.DeliveryDone:
		return state{"good", web.Word("Delivered"), web.Word("The endpoint accepted this event."), ""}
	default:
		return state{"bad", web.Word("Failed"), web.Word("This attempt failed."), ""}
	}
}

// redeliver sends one event to the endpoint again.
func (p *pages) redeliver(r *frame.Request, found gateway.Instance) error {
	ref, err := p.refOf(r.Context(), r, found.ID)
	if err != nil {
		return err
	}
	sequence, err := strconv.ParseInt(r.PathValue("sequence"), 10, 64)
	if err != nil || sequence < 1 {
		return gateway.Errorf(gateway.NotFound, gateway.CodeNotFound, "there is no such event")
	}
	result, err := p.Webhooks.Redeliver(r.Context(), ref, sequence)
	if err != nil {
		return err
	}
	r.Entry.Detail = strconv.FormatInt(sequence, 10)
	back := webhookURL(found.ID, "/deliveries", whichOf(r))
	switch {
	case result.Error == "":
		return r.Done(back, web.Word("Event %d was delivered: the endpoint answered %d."), sequence, result.Status)
	case result.Status != 0:
		return r.Done(back, web.Word("Event %d was not delivered: the endpoint answered %d."), sequence, result.Status)
	default:
		return r.Done(back, web.Word("Event %d was not delivered: the endpoint did not answer."), sequence)
	}
}

// replayWebhook delivers everything from an event or a time on again.
func (p *pages) replayWebhook(r *frame.Request, found gateway.Instance) error {
	ref, err := p.refOf(r.Context(), r, found.ID)
	if err != nil {
		return err
	}
	from, err := p.replayFrom(r)
	if err != nil {
		return err
	}
	replayed, err := p.Webhooks.Replay(r.Context(), ref, from)
	if err != nil {
		return err
	}
	r.Entry.Detail = strconv.FormatInt(replayed.FromSequence, 10) + "+" + strconv.FormatInt(replayed.Events, 10)
	back := webhookURL(found.ID, "/deliveries", whichOf(r))
	switch replayed.Events {
	case 0:
		return r.Done(back, web.Word("There is nothing to resend: no event since then had been delivered."))
	case 1:
		return r.Done(back, web.Word("Resending event %d."), replayed.FromSequence)
	default:
		return r.Done(back, web.Word("Resending %d events, starting with event %d."), replayed.Events, replayed.FromSequence)
	}
}

// replayFrom reads where a replay begins.
func (p *pages) replayFrom(r *frame.Request) (webhook.From, error) {
	if r.FormValue("from") == "event" {
		sequence, err := strconv.ParseInt(r.FormValue("sequence"), 10, 64)
		if err != nil || sequence < 1 {
			return webhook.From{}, gateway.InvalidField("sequence", "must be the number of an event")
		}
		return webhook.From{Sequence: sequence}, nil
	}
	hours, err := strconv.Atoi(r.FormValue("from"))
	if err != nil || hours < 1 || hours > 24*30 {
		return webhook.From{}, gateway.InvalidField("from", "must be the number of hours, or event")
	}
	return webhook.From{Since: p.Now().Add(-time.Duration(hours) * time.Hour)}, nil
}
