package dashboard

import (
	"context"
	"html/template"
	"time"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/instance"
	"github.com/recado-project/recado/internal/web"
)

// instanceView is the page of one instance.
type instanceView struct {
	instanceHead

	Code  *shownCode // the code that waits for a scan; nil for none
	Today int        // messages in and out since midnight, UTC
	Chart chart
}

// instanceHead is what all pages of an instance begin with.
type instanceHead struct {
	Instance gateway.Instance
	State    state
	Tab      string // the page
	May      bool   // the visitor may change something
	Running  bool   // there is a session
}

// shownCode is a code as the page shows it.
type shownCode struct {
	Picture   template.URL // a data URI
	ExpiresAt time.Time
	Attempt   int
}

// chart is what the browser draws: messages per hour.
type chart struct {
	Labels [3]string  `json:"labels"` // of time, of messages out, of messages in
	Values [3][]int64 `json:"values"` // Unix seconds, and the two counts
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
func (p *pages) showInstance(r *frame.Request) error {
	found, err := p.instanceOf(r)
	if err != nil {
		return err
	}
	view, err := p.instanceView(r, found.ID)(r.Context())
	if err != nil {
		return err
	}
	return r.Page("instance", frame.View{Title: found.Name, Section: "instances", Body: view})
}

// liveInstance keeps it up to date: a code that is shown turns by itself into the next
// one, and into "connected".
func (p *pages) liveInstance(r *frame.Request) error {
	found, err := p.instanceOf(r)
	if err != nil {
		return err
	}
	return serveLive(p, r, "instance", found.ID, 0, p.instanceView(r, found.ID))
}

// instanceView returns what makes the page.
func (p *pages) instanceView(r *frame.Request, id string) func(ctx context.Context) (instanceView, error) {
	role := r.Visitor.Role
	labels := [3]string{r.Text(web.Word("Hour")), r.Text(web.Word("Out")), r.Text(web.Word("In"))}
	return func(ctx context.Context) (instanceView, error) {
		found, err := p.Instances.Get(ctx, id)
		if err != nil {
			return instanceView{}, err
		}
		view := instanceView{instanceHead: headOf(found, "overview", role)}
		view.Chart, view.Today = p.chartOf(id, labels)
		if code, shown := p.Instances.ShownQR(id); shown && role.Covers(gateway.RoleOperator) {
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
func (p *pages) linkInstance(r *frame.Request) error {
	found, err := p.instanceOf(r)
	if err != nil {
		return err
	}
	if _, err := p.Instances.QR(r.Context(), found.ID); err != nil {
		return err
	}
	return r.Done("/instances/"+found.ID, web.Word("The code is shown: scan it with the phone."))
}

// showPairingCode asks for the characters that are typed on the phone of a number.
func (p *pages) showPairingCode(r *frame.Request) error {
	found, err := p.instanceOf(r)
	if err != nil {
		return err
	}
	number, ok := gateway.ParseNumber(r.FormValue("number"))
	if !ok {
		return gateway.InvalidFields(gateway.FieldError{Field: "number", Message: "must be the phone's number with its country code, such as 5511999990100"})
	}
	code, err := p.Instances.PairingCode(r.Context(), found.ID, number)
	if err != nil {
		return err
	}
	return r.Fragment("instance", "pairing-code", code)
}

// restartInstance connects the instance anew.
func (p *pages) restartInstance(r *frame.Request) error {
	return p.command(r, p.Instances.Restart, web.Word("Restarting."))
}

// stopInstance closes the session and keeps the link.
func (p *pages) stopInstance(r *frame.Request) error {
	return p.command(r, p.Instances.Stop, web.Word("Stopped."))
}

// logOutInstance ends the link.
func (p *pages) logOutInstance(r *frame.Request) error {
	return p.command(r, p.Instances.Logout, web.Word("Logged out."))
}

// command carries out what takes no more than the instance.
func (p *pages) command(r *frame.Request, carryOut func(ctx context.Context, id string) error, done web.Word) error {
	found, err := p.instanceOf(r)
	if err != nil {
		return err
	}
	if err := carryOut(r.Context(), found.ID); err != nil {
		return err
	}
	return r.Done("/instances/"+found.ID, done)
}

// deleteInstance removes the instance and all that belongs to it, if its name was typed.
func (p *pages) deleteInstance(r *frame.Request) error {
	found, err := p.instanceOf(r)
	if err != nil {
		return err
	}
	if r.FormValue("name") != found.Name {
		return gateway.InvalidFields(gateway.FieldError{Field: "name", Message: "must be the instance's name, as it stands"})
	}
	if err := p.Instances.Delete(r.Context(), found.ID); err != nil {
		return err
	}
	return r.Go("/instances")
}
