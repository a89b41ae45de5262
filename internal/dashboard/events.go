// The events of an instance as they happen.

package dashboard

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"strconv"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/dashboard/sentence"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

// eventsAtOnce is how many events a page shows.
const eventsAtOnce = 50

// eventsView is the page of an instance's events.
type eventsView struct {
	instanceHead

	Kinds   []eventlog.Kind
	Kind    eventlog.Kind // that is chosen; empty for all
	Events  []listedEvent
	Still   bool   // it shows a moment, and nothing new
	Go      string // the link to what is new
	Pause   string // the link to what is there now, and stays
	Older   string // the link to older events; empty for none
	LiveURL string
}

// listedEvent is an event in the list, with what it reports.
type listedEvent struct {
	Event eventlog.Event

	Told string
}

// told says what events report, in the reader's language.
func (p *pages) told(ctx context.Context, r *frame.Request, instanceID string, events []eventlog.Event) ([]listedEvent, error) {
	names := sentence.Names{}
	for _, id := range sentence.Unnamed(events) {
		found, err := p.Chats.Find(ctx, instanceID, gateway.Recipient{Chat: gateway.JID(id)})
		switch {
		case err == nil:
			names[id] = found.Party.Name
		case gateway.KindOf(err) != gateway.NotFound && gateway.KindOf(err) != gateway.Invalid:
			return nil, err
		}
	}
	all := make([]listedEvent, 0, len(events))
	for _, event := range events {
		all = append(all, listedEvent{Event: event, Told: sentence.Of(event, names).In(p.Site.Words(), r.Lang())})
	}
	return all, nil
}

// oneEvent is an event as it is opened.
type oneEvent struct {
	Event eventlog.Event

	JSON string
	May  bool
	Row  int64 // names it in the page: the sequence, or what a page has chosen that may show it several times
}

// eventsAsked reads which events a request asks for: a kind, and the newest number; 0 means
// what is new.
func eventsAsked(query url.Values) (kind eventlog.Kind, at int64) {
	if kind = eventlog.Kind(query.Get("kind")); !kind.Known() {
		kind = ""
	}
	if at, err := strconv.ParseInt(query.Get("at"), 10, 64); err == nil && at > 0 {
		return kind, at
	}
	return kind, 0
}

// eventsView returns what makes the page.
func (p *pages) eventsView(r *frame.Request) func(ctx context.Context) (eventsView, error) {
	id, role := r.PathValue("instanceId"), r.Visitor.Actor.Role
	path := "/instances/" + id + "/events"
	kind, at := eventsAsked(r.URL.Query())
	query := url.Values{}
	var kinds []eventlog.Kind
	if kind != "" {
		query.Set("kind", string(kind))
		kinds = []eventlog.Kind{kind}
	}
	return func(ctx context.Context) (eventsView, error) {
		found, err := p.Instances.Get(ctx, id)
		if err != nil {
			return eventsView{}, err
		}
		view := eventsView{
			instanceHead: headOf(found, "events", role), Kinds: eventlog.Kinds(), Kind: kind,
			Still: at > 0, Go: frame.WithQuery(path, query), LiveURL: frame.WithQuery(path+"/live", query),
		}
		before := int64(0)
		if view.Still {
			before = at + 1
		}
		events, older, err := p.Events.Newest(ctx, id, kinds, before, eventsAtOnce)
		if err != nil {
			return eventsView{}, err
		}
		if view.Events, err = p.told(ctx, r, id, events); err != nil {
			return eventsView{}, err
		}
		link := func(at int64) string {
			there := maps.Clone(query)
			there.Set("at", strconv.FormatInt(at, 10))
			return frame.WithQuery(path, there)
		}
		if len(view.Events) > 0 {
			view.Pause = link(view.Events[0].Event.Sequence)
		}
		if older > 1 {
			view.Older = link(older - 1)
		}
		return view, nil
	}
}

// showEvent shows one event, as it is delivered.
func (p *pages) showEvent(r *frame.Request, found gateway.Instance) error {
	sequence, err := strconv.ParseInt(r.PathValue("sequence"), 10, 64)
	if err != nil || sequence < 1 {
		return gateway.Errorf(gateway.NotFound, gateway.CodeNotFound, "there is no such event")
	}
	events, err := p.Events.Read(r.Context(), found.ID, sequence-1, 1)
	if err != nil {
		return err
	}
	if len(events) == 0 || events[0].Sequence != sequence {
		return gateway.Errorf(gateway.NotFound, gateway.CodeNotFound, "there is no such event any more")
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, events[0].Envelope(), "", "  "); err != nil {
		return fmt.Errorf("dashboard: write event: %w", err)
	}
	row, err := strconv.ParseInt(r.URL.Query().Get("row"), 10, 64)
	if err != nil {
		row = sequence
	}
	return r.Fragment("events", "event", oneEvent{Event: events[0], JSON: pretty.String(), May: r.Visitor.May(gateway.RoleOperator), Row: row})
}
