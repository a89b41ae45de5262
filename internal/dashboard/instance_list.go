// The table of all instances.

package dashboard

import (
	"cmp"
	"context"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/instance"
	"github.com/recado-project/recado/internal/web"
	"github.com/recado-project/recado/internal/webhook"
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
	Status  string          // the group that is chosen; empty for all
	Groups  []instanceGroup // by status, of those that the search finds
	Orders  []choice
	Rows    []instanceRow
	Any     bool   // there are instances, whether or not they are found
	Total   int    // of the chosen group
	First   int    // the number of the first row, from 1
	May     bool   // the visitor may create one
	Steps   []step // what a new account has to do; empty once it is done
	Before  string // the first page; empty on it
	After   string // the next page; empty on the last
	LiveURL string
}

// instanceGroup are the instances whose status asks for the same.
type instanceGroup struct {
	Value string
	Name  web.Word
	Count int
	Link  string
	Here  bool
}

// What an instance's status asks for; the values are those in the address of the page.
const (
	groupConnected  = "connected"
	groupConnecting = "connecting"
	groupAction     = "action"
	groupStopped    = "stopped"
)

// groupOf returns the group of an instance.
func groupOf(i gateway.Instance) string {
	switch {
	case i.Status == gateway.StatusConnected:
		return groupConnected
	case i.Status == gateway.StatusConnecting && !i.Reason.IsProxy():
		return groupConnecting
	case i.Status == gateway.StatusManuallyStopped:
		return groupStopped
	default:
		return groupAction
	}
}

// The orders of the table beside the usual one, in which the oldest come first.
const (
	orderName    = "name"
	orderSince   = "since"
	orderWaiting = "waiting"
)

// Last returns the number of the last row.
func (v instancesView) Last() int { return v.First + len(v.Rows) - 1 }

// instanceRow is one line of the table.
type instanceRow struct {
	Instance gateway.Instance

	State   state
	Today   int   // messages in and out since midnight, UTC
	Waiting int64 // events that the webhook still has to deliver
}

// step is one of the first things that somebody does with a gateway.
type step struct {
	Name, Hint web.Word
	Link       string // where it is done; empty where something else comes first
	Done       bool
}

// The first steps are for an account with few instances that is new. How long events are kept has
// an end, so what an old account has done can't be told from them.
const (
	newFor         = 7 * 24 * time.Hour
	firstInstances = 3
)

// StepsDone is how many of the first steps are done.
func (v instancesView) StepsDone() (done int) {
	for _, one := range v.Steps {
		if one.Done {
			done++
		}
	}
	return done
}

// firstSteps returns what an account with these instances, oldest first, has done and still has to do;
// nothing once all is done.
func (p *pages) firstSteps(ctx context.Context, key gateway.Key, role gateway.Role, all []gateway.Instance) ([]step, error) {
	if !role.Covers(gateway.RoleOperator) || len(all) > firstInstances {
		return nil, nil
	}
	whole, err := p.Instances.Some(ctx, key, idsOf(all))
	if err != nil {
		return nil, err
	}
	link, receive, send := step{Name: web.Word("Link an instance"), Hint: web.Word("Create one and scan its code with the phone.")},
		step{Name: web.Word("Receive a message"), Hint: web.Word("Write to the account from another phone.")},
		step{Name: web.Word("Send a message"), Hint: web.Word("Here or with the API.")}
	hook := step{Name: web.Word("Add a webhook"), Hint: web.Word("It sends events to your server.")}
	if len(whole) > 0 {
		link.Hint = web.Word("Scan its code with the phone.")
		path := "/instances/" + whole[0].ID
		link.Link, receive.Link, send.Link, hook.Link = path, path+"/chats", path+"/chats", path+"/webhook"
		if p.Sandbox {
			receive.Link = "/sandbox"
		}
	}
	for _, one := range whole {
		if p.Now().Sub(one.CreatedAt) > newFor {
			return nil, nil
		}
		link.Done = link.Done || one.Linked()
		for kind, done := range map[eventlog.Kind]*step{eventlog.KindMessageReceived: &receive, eventlog.KindMessageSent: &send} {
			found, _, err := p.Events.Newest(ctx, one.ID, []eventlog.Kind{kind}, 0, 1)
			if err != nil {
				return nil, err
			}
			done.Done = done.Done || len(found) > 0
		}
	}
	hooks, err := p.Webhooks.Conditions(ctx, idsOf(whole))
	if err != nil {
		return nil, err
	}
	everywhere, err := p.AccountWebhooks.List(ctx, key.AccountID, gateway.PageRequest{Page: 1, Limit: 1})
	if err != nil {
		return nil, err
	}
	hook.Done = len(hooks)+everywhere.Total > 0
	steps := []step{link, receive, send, hook}
	if role.Covers(gateway.RoleOwner) {
		keys, err := p.Access.ListKeys(ctx, key.AccountID, gateway.PageRequest{Page: 1, Limit: 1})
		if err != nil {
			return nil, err
		}
		steps = append(steps, step{web.Word("Create an API key"), web.Word("Your programs use it to call the API."), "/keys/new", keys.Total > 0})
	}
	if !slices.ContainsFunc(steps, func(s step) bool { return !s.Done }) {
		return nil, nil
	}
	return steps, nil
}

// start leads from the address of the gateway to its first page.
func (p *pages) start(r *frame.Request) error { return r.Go("/instances") }

// listInstances shows the table.
func (p *pages) listInstances(r *frame.Request) error {
	view, err := p.instancesView(r)(r.Context())
	if err != nil {
		return err
	}
	if r.Live() { // the search works while somebody types
		r.W.Header().Set("HX-Replace-Url", frame.WithQuery("/instances", searchOf(r)))
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
	if status := given.Get("status"); slices.Contains([]string{groupConnected, groupConnecting, groupAction, groupStopped}, status) {
		query.Set("status", status)
	}
	if sort := given.Get("sort"); slices.Contains([]string{orderName, orderSince, orderWaiting}, sort) {
		query.Set("sort", sort)
	}
	if page := frame.PageOf(given); page > 1 {
		query.Set("page", strconv.Itoa(page))
	}
	return query
}

// instancesView returns what makes the table that a request asks for.
func (p *pages) instancesView(r *frame.Request) func(ctx context.Context) (instancesView, error) {
	query, key, role := searchOf(r), r.Visitor.Key, r.Visitor.Actor.Role
	may := role.Covers(gateway.RoleOperator)
	return func(ctx context.Context) (instancesView, error) {
		request := gateway.PageRequest{Page: frame.PageOf(query), Limit: instancesAtOnce}
		all, err := p.Instances.Outlines(ctx, key, query.Get("search"))
		if err != nil {
			return instancesView{}, err
		}
		view := instancesView{
			Search: query.Get("search"), Status: query.Get("status"), Groups: groupsOf(all, query), Orders: ordersOf(query.Get("sort")),
			Any: len(all) > 0, May: may, First: request.Offset() + 1, LiveURL: frame.WithQuery("/instances/live", query),
		}
		if len(query) == 0 {
			if view.Steps, err = p.firstSteps(ctx, key, role, all); err != nil {
				return instancesView{}, err
			}
		}
		if view.Status != "" {
			all = slices.DeleteFunc(all, func(i gateway.Instance) bool { return groupOf(i) != view.Status })
		}
		if err := p.order(ctx, all, query.Get("sort")); err != nil {
			return instancesView{}, err
		}
		outlined := gateway.PageOf(all, request)
		view.Total, view.Rows = outlined.Total, make([]instanceRow, len(outlined.Items))
		ids := idsOf(outlined.Items)
		whole, err := p.Instances.Some(ctx, key, ids)
		if err != nil {
			return instancesView{}, err
		}
		found := map[string]gateway.Instance{}
		for _, one := range whole {
			found[one.ID] = one
		}
		// One that was deleted meanwhile is shown as it was.
		for n, one := range outlined.Items {
			outlined.Items[n] = cmp.Or(found[one.ID], one)
		}
		today, err := p.Traffic.Since(ctx, p.midnight(), ids)
		if err != nil {
			return instancesView{}, err
		}
		waiting, err := p.Webhooks.Conditions(ctx, ids)
		if err != nil {
			return instancesView{}, err
		}
		for n, item := range outlined.Items {
			view.Rows[n] = instanceRow{
				Instance: item, State: p.stateOf(item), Waiting: pendingOf(waiting[item.ID]),
				Today: today[item.ID].Sent + today[item.ID].Received,
			}
		}
		view.Before, view.After = frame.Around("/instances", query, request.Page, instancesAtOnce, view.Total)
		return view, nil
	}
}

// groupsOf counts the groups. A group that is empty is not listed unless it is chosen.
func groupsOf(all []gateway.Instance, query url.Values) []instanceGroup {
	counts := map[string]int{"": len(all)}
	for _, one := range all {
		counts[groupOf(one)]++
	}
	var groups []instanceGroup
	for _, group := range []instanceGroup{
		{Value: "", Name: web.Word("All")},
		{Value: groupConnected, Name: web.Word("Connected now")},
		{Value: groupConnecting, Name: web.Word("Connecting")},
		{Value: groupAction, Name: web.Word("Need attention")},
		{Value: groupStopped, Name: web.Word("Stopped by hand")},
	} {
		group.Count, group.Here = counts[group.Value], group.Value == query.Get("status")
		if group.Count == 0 && !group.Here && group.Value != "" {
			continue
		}
		there := maps.Clone(query)
		there.Del("page")
		there.Del("status")
		if group.Value != "" {
			there.Set("status", group.Value)
		}
		group.Link = frame.WithQuery("/instances", there)
		groups = append(groups, group)
	}
	return groups
}

// ordersOf are the orders to choose from.
func ordersOf(chosen string) []choice {
	return []choice{
		{"", web.Word("Oldest first"), chosen == ""},
		{orderName, web.Word("By name"), chosen == orderName},
		{orderSince, web.Word("Changed last"), chosen == orderSince},
		{orderWaiting, web.Word("Most waiting events"), chosen == orderWaiting},
	}
}

// order sorts instances, which are the oldest first, in another order. Those that are equal stay in it.
func (p *pages) order(ctx context.Context, all []gateway.Instance, order string) error {
	switch order {
	case orderName:
		keys := map[string]string{} // lower case is made once of each
		for _, one := range all {
			keys[one.ID] = strings.ToLower(one.Name)
		}
		slices.SortStableFunc(all, func(a, b gateway.Instance) int { return cmp.Compare(keys[a.ID], keys[b.ID]) })
	case orderSince:
		slices.SortStableFunc(all, func(a, b gateway.Instance) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	case orderWaiting:
		waiting, err := p.Webhooks.Conditions(ctx, idsOf(all))
		if err != nil {
			return err
		}
		slices.SortStableFunc(all, func(a, b gateway.Instance) int {
			return cmp.Compare(pendingOf(waiting[b.ID]), pendingOf(waiting[a.ID]))
		})
	}
	return nil
}

// pendingOf sums up the events that webhooks still have to deliver.
func pendingOf(conditions []webhook.Condition) (pending int64) {
	for _, condition := range conditions {
		pending += condition.Pending
	}
	return pending
}

func idsOf(instances []gateway.Instance) []string {
	ids := make([]string, len(instances))
	for n, one := range instances {
		ids[n] = one.ID
	}
	return ids
}

// createInstance makes an instance and leads to it.
func (p *pages) createInstance(r *frame.Request) error {
	name := strings.TrimSpace(r.FormValue("name"))
	if gateway.CleanName(name) != name || name == "" || utf8.RuneCountInString(name) > maxInstanceName {
		return gateway.InvalidField("name", "must have 1 to 255 visible characters")
	}
	made, err := p.Instances.Create(r.Context(), r.Visitor.Key.AccountID, instance.Draft{Name: name})
	if err != nil {
		return err
	}
	r.Entry.Subject = made.Name
	return r.Go("/instances/" + made.ID)
}
