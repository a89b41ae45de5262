// The table of all instances.

package dashboard

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/web"
)

const (
	// instancesAtOnce is how many rows a page of the table has.
	instancesAtOnce = 50
	// maxSearch bounds what is searched for, maxInstanceName a name, in letters.
	maxSearch       = 100
	maxInstanceName = 255
)

// instancesView is the table of instances.
type instancesView struct {
	Search  string
	Rows    []instanceRow
	Total   int
	Page    int
	May     bool   // the visitor may create one
	Before  string // the first page; empty on it
	After   string // the next page; empty on the last
	LiveURL string
}

// instanceRow is one line of the table.
type instanceRow struct {
	Instance gateway.Instance

	State   state
	Today   int   // messages in and out since midnight, UTC
	Waiting int64 // events that the webhook still has to deliver
}

// start leads from the address of the gateway to its first page.
func (p *pages) start(r *frame.Request) error { return r.Go("/instances") }

// listInstances shows the table.
func (p *pages) listInstances(r *frame.Request) error {
	view, err := p.instancesView(r)(r.Context())
	if err != nil {
		return err
	}
	return r.Page("instance_list", frame.View{Title: r.Text(web.Word("Instances")), Section: "instances", Body: view})
}

// liveInstances keeps the table up to date.
func (p *pages) liveInstances(r *frame.Request) error {
	return serveLive(p, r, "instance_list", listAge, p.instancesView(r))
}

// listAge is after which time the list is made anew without an event: nobody tells this node
// what happens at others.
const listAge = 5 * time.Second

// searchOf returns what a request for the table asks for, within bounds.
func searchOf(r *frame.Request) url.Values {
	given := r.URL.Query()
	search := strings.TrimSpace(strings.ToValidUTF8(given.Get("search"), ""))
	if utf8.RuneCountInString(search) > maxSearch {
		search = string([]rune(search)[:maxSearch])
	}
	query := url.Values{}
	if search != "" {
		query.Set("search", search)
	}
	if page := frame.PageOf(given); page > 1 {
		query.Set("page", strconv.Itoa(page))
	}
	return query
}

// instancesView returns what makes the table that a request asks for.
func (p *pages) instancesView(r *frame.Request) func(ctx context.Context) (instancesView, error) {
	query, key, may := searchOf(r), r.Visitor.Key, r.Visitor.May(gateway.RoleOperator)
	return func(ctx context.Context) (instancesView, error) {
		request := gateway.PageRequest{Page: frame.PageOf(query), Limit: instancesAtOnce}
		found, err := p.Instances.Search(ctx, key, query.Get("search"), request)
		if err != nil {
			return instancesView{}, err
		}
		view := instancesView{
			Search: query.Get("search"), Total: found.Total, Page: request.Page, May: may,
			Rows: make([]instanceRow, len(found.Items)), LiveURL: frame.WithQuery("/instances/live", query),
		}
		ids := make([]string, len(found.Items))
		for n, item := range found.Items {
			ids[n] = item.ID
		}
		today, err := p.Traffic.Since(ctx, p.midnight(), ids)
		if err != nil {
			return instancesView{}, err
		}
		waiting, err := p.Webhooks.Conditions(ctx, ids)
		if err != nil {
			return instancesView{}, err
		}
		for n, item := range found.Items {
			pending := int64(0)
			for _, condition := range waiting[item.ID] {
				pending += condition.Pending
			}
			view.Rows[n] = instanceRow{
				Instance: item, State: p.stateOf(item), Waiting: pending,
				Today: today[item.ID].Sent + today[item.ID].Received,
			}
		}
		view.Before, view.After = frame.Around("/instances", query, request.Page, instancesAtOnce, found.Total)
		return view, nil
	}
}

// createInstance makes an instance and leads to it.
func (p *pages) createInstance(r *frame.Request) error {
	name := strings.TrimSpace(r.FormValue("name"))
	if gateway.CleanName(name) != name || name == "" || utf8.RuneCountInString(name) > maxInstanceName {
		return gateway.InvalidField("name", "must have 1 to 255 visible characters")
	}
	made, err := p.Instances.Create(r.Context(), r.Visitor.Key.AccountID, name)
	if err != nil {
		return err
	}
	r.Entry.Subject = made.Name
	return r.Go("/instances/" + made.ID)
}
