package dashboard

import (
	"cmp"
	"context"
	"html/template"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/instance"
	"github.com/recado-project/recado/internal/web"
)

// instanceView is the page of one instance.
type instanceView struct {
	instanceHead

	Code    *shownCode    // the code that waits for a scan; nil for none
	Passkey *shownPasskey // the question for a passkey; nil for none
	Today   int           // messages in and out since midnight, UTC
	Waiting int           // messages in the queue
	Pending int64         // events that webhooks still have to deliver
	Since   time.Time     // when the status came; zero where that is not kept any more
	Chart   chart

	Restriction *restriction // nil for none
	Limits      *limitsView  // nil in the live part
}

// instanceHead is what all pages of an instance begin with.
type instanceHead struct {
	Instance gateway.Instance
	State    state
	Tab      string // the page
	May      bool   // the visitor may change something
	Running  bool   // there is a session
	Refused  string // why the platform can't be asked now; empty if it can
}

// shownCode is a code as the page shows it.
type shownCode struct {
	Picture   template.URL // a data URI
	ExpiresAt time.Time
	Attempt   int
}

// chart is what the browser draws: messages per hour.
type chart struct {
	Labels [3]string  `json:"labels"`          // of time, of messages out, of messages in
	Values [3][]int64 `json:"values"`          // Unix seconds, and the two counts
	Tones  []string   `json:"tones,omitempty"` // the colours of the two counts, where they mean something
	Empty  bool       `json:"-"`
}

// headOf returns the head of an instance's page.
func headOf(found gateway.Instance, tab string, role gateway.Role) instanceHead {
	return instanceHead{
		Instance: found, State: stateOf(found), Tab: tab,
		May: role.Covers(gateway.RoleOperator), Running: running(found.Status),
	}
}

// showInstance shows the page of one instance.
func (p *pages) showInstance(r *frame.Request, found gateway.Instance) error {
	view, err := p.instanceView(r)(r.Context())
	if err != nil {
		return err
	}
	if view.Limits, err = p.limitsOf(r.Context(), found); err != nil {
		return err
	}
	return r.Page("instance", frame.View{Title: found.Name, Section: "instances", Body: view})
}

// instanceView returns what makes the page: a code that is shown turns by itself into the next one, and
// into "connected".
func (p *pages) instanceView(r *frame.Request) func(ctx context.Context) (instanceView, error) {
	id, role := r.PathValue("instanceId"), r.Visitor.Actor.Role
	labels := [3]string{r.Text(web.Word("Hour")), r.Text(web.Word("Messages sent")), r.Text(web.Word("Messages received"))}
	return func(ctx context.Context) (instanceView, error) {
		found, err := p.Instances.Get(ctx, id)
		if err != nil {
			return instanceView{}, err
		}
		view := instanceView{instanceHead: headOf(found, "overview", role)}
		view.Restriction = restrictionOf(found, p.Now())
		view.Chart, view.Today = p.chartOf(id, labels)
		if view.Waiting, err = p.waiting(ctx, id); err != nil {
			return instanceView{}, err
		}
		waiting, err := p.Webhooks.Conditions(ctx, []string{id})
		if err != nil {
			return instanceView{}, err
		}
		view.Pending = pendingOf(waiting[id])
		changed, _, err := p.Events.Newest(ctx, id, []eventlog.Kind{eventlog.KindInstanceStatus}, 0, 1)
		if err != nil {
			return instanceView{}, err
		}
		if len(changed) > 0 {
			view.Since = changed[0].At
		}
		question, may := p.Instances.Passkey(id), role.Covers(gateway.RoleOperator)
		view.State = p.stateOf(found)
		if may {
			view.Passkey = passkeyOf(question)
		}
		if code, shown := p.Instances.ShownQR(id); shown && may && !question.Open() {
			picture, err := instance.Picture(code)
			if err != nil {
				return instanceView{}, err
			}
			view.Code = &shownCode{Picture: template.URL(picture), ExpiresAt: code.ExpiresAt, Attempt: code.Attempt} //nolint:gosec // our own picture
		}
		return view, nil
	}
}

// chartOf returns the messages per hour of the last day, and those of today.
func (p *pages) chartOf(id string, labels [3]string) (made chart, today int) {
	midnight := p.midnight()
	made = chart{Labels: labels, Empty: true}
	for _, hour := range p.Traffic.Hours(id) {
		made.Values[0] = append(made.Values[0], hour.Hour.Unix())
		made.Values[1] = append(made.Values[1], int64(hour.Sent))
		made.Values[2] = append(made.Values[2], int64(hour.Received))
		made.Empty = made.Empty && hour.Sent == 0 && hour.Received == 0
		if !hour.Hour.Before(midnight) {
			today += hour.Sent + hour.Received
		}
	}
	return made, today
}

// midnight is when today began, UTC.
func (p *pages) midnight() time.Time { return p.Now().UTC().Truncate(24 * time.Hour) }

// linkInstance has a code shown. The page shows it when it is there.
func (p *pages) linkInstance(r *frame.Request, found gateway.Instance) error {
	if _, err := p.Instances.QR(r.Context(), found.ID); err != nil {
		return err
	}
	return r.Done("/instances/"+found.ID, web.Word("Scan the code with the phone."))
}

// showPairingCode asks for the characters that are typed on the phone of a number.
func (p *pages) showPairingCode(r *frame.Request, found gateway.Instance) error {
	number, ok := gateway.ParseNumber(r.FormValue("number"))
	if !ok {
		return gateway.InvalidField("number", "must be the phone's number with its country code, such as 5511999990100")
	}
	code, err := p.Instances.PairingCode(r.Context(), found.ID, number)
	if err != nil {
		return err
	}
	return r.Fragment("instance", "pairing-code", code)
}

// changeInstance sets the name, the proxy, the label and the rules of sending.
func (p *pages) changeInstance(r *frame.Request, found gateway.Instance) error {
	given := func(field string) *string {
		value := strings.TrimSpace(r.FormValue(field))
		if !r.PostForm.Has(field) { // the setting stays as it is
			return nil
		}
		return &value
	}
	sending, err := sendingOf(r)
	if err != nil {
		return err
	}
	switched := func(field string) *bool { return switchOf(r, field, "on") }
	changed, err := p.Instances.Change(r.Context(), found.ID, instance.Settings{
		Sending: sending,
		Switches: instance.SwitchesChange{
			ReadMessages: switched("read-messages"), ReadStatuses: switched("read-statuses"),
			AlwaysOnline: switched("always-online"), IgnoreGroups: switched("ignore-groups"),
		},
		Name: given("name"), Proxy: given("proxy"), DeviceName: given("device-name"), DeviceKind: given("device-kind"),
	})
	if err != nil {
		return err
	}
	r.Entry.Detail = changes(found, changed)
	return r.Go("/instances/" + found.ID)
}

// changes names the settings that differ, for the audit list. Of a proxy it has the host
// alone.
func changes(before, after gateway.Instance) string {
	var named []string
	if after.Name != before.Name {
		named = append(named, "name "+after.Name)
	}
	if address := after.Proxy.URL(); after.Proxy != before.Proxy && address != nil {
		named = append(named, "proxy "+address.Host)
	} else if after.Proxy != before.Proxy {
		named = append(named, "no proxy")
	}
	if after.Label != before.Label {
		named = append(named, "device "+after.Label.Name+" "+string(after.Label.Kind))
	}
	if after.Sending != before.Sending {
		named = append(named, "care")
	}
	if after.Switches != before.Switches {
		named = append(named, "automatic")
	}
	return strings.Join(named, ", ")
}

// switchView is a setting that is on or off.
type switchView struct {
	Name       string // in the form
	Text, Hint web.Word
	On         bool
}

// Switches are what the instance does by itself, or leaves.
func (v instanceView) Switches() []switchView {
	set := v.Instance.Switches
	return []switchView{
		{"read-messages", web.Word("Mark messages as read as soon as they arrive"), web.Word("The sender sees blue ticks at once, and the chats here have no unread messages."), set.ReadMessages},
		{"read-statuses", web.Word("Mark contacts’ status updates as viewed"), "", set.ReadStatuses},
		{"always-online", web.Word("Always show as online"), web.Word("The phone may not show notifications while this is on."), set.AlwaysOnline},
		{"ignore-groups", web.Word("Ignore groups"), web.Word("Nothing that arrives from groups is stored or sent to webhooks. Messages already stored stay."), set.IgnoreGroups},
	}
}

// Kinds are the kinds of devices, the default first.
func (v instanceView) Kinds() []choice {
	kinds := []choice{{"", web.Word("Desktop"), false}}
	for _, kind := range gateway.DeviceKinds() {
		if kind != gateway.DeviceDesktop {
			kinds = append(kinds, choice{string(kind), kindName(kind), kind == v.Instance.Label.Kind})
		}
	}
	return kinds
}

func kindName(kind gateway.DeviceKind) web.Word {
	words := map[gateway.DeviceKind]web.Word{
		gateway.DeviceChrome:  web.Word("Chrome"),
		gateway.DeviceEdge:    web.Word("Edge"),
		gateway.DeviceFirefox: web.Word("Firefox"),
		gateway.DeviceOpera:   web.Word("Opera"),
		gateway.DeviceSafari:  web.Word("Safari"),
		gateway.DeviceIPad:    web.Word("iPad"),
	}
	return cmp.Or(words[kind], web.Word("Android tablet"))
}

// command is what a button does that needs no more than the instance.
type command struct {
	carryOut func(ctx context.Context, id string) error
	done     web.Word
}

func (c command) handle(r *frame.Request, found gateway.Instance) error {
	if err := c.carryOut(r.Context(), found.ID); err != nil {
		return err
	}
	return r.Done("/instances/"+found.ID, c.done)
}

// deleteInstance removes the instance and all that belongs to it, if its name was typed.
func (p *pages) deleteInstance(r *frame.Request, found gateway.Instance) error {
	if r.FormValue("name") != found.Name {
		return gateway.InvalidField("name", "must be the instance's name, as it stands")
	}
	if err := p.Instances.Delete(r.Context(), found.ID); err != nil {
		return err
	}
	return r.Go("/instances")
}
