// Package contacts is the pages of the people whom an account knows: a list, and a page for each, on
// which the address book is written.
package contacts

import (
	"cmp"
	"context"
	"embed"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/required"
	"github.com/recado-project/recado/internal/user"
	"github.com/recado-project/recado/internal/web"
)

// Files are the templates with their translations.
//
//go:embed *.html locale
var Files embed.FS

const (
	// atOnce is how many contacts a page of the list has.
	atOnce = 50
	// maxName bounds a name, in letters, as in the API.
	maxName = 128
)

// UseCases are the use cases of contacts.
type UseCases interface {
	List(ctx context.Context, instanceID, search string, page gateway.PageRequest) (gateway.Page[gateway.Contact], error)
	Get(ctx context.Context, instanceID string, who gateway.Recipient) (gateway.ContactDetails, error)
	Name(ctx context.Context, instanceID string, who gateway.Recipient, name string) (gateway.ContactDetails, error)
}

// Config is what the pages stand on.
type Config struct {
	Contacts UseCases
	// Instance returns the instance of the request's path, or a gateway.NotFound.
	Instance func(r *frame.Request) (gateway.Instance, error)
}

// pages has the handlers.
type pages struct{ Config }

// Routes returns the pages of contacts.
func Routes(config Config) ([]frame.Route, error) {
	if err := required.Check("dashboard/contacts", config); err != nil {
		return nil, err
	}
	p := &pages{config}
	const all, one = "/instances/{instanceId}/contacts", "/instances/{instanceId}/contacts/{phone}"
	return []frame.Route{
		{Method: http.MethodGet, Path: all, Role: gateway.RoleViewer, Handle: p.list},
		{Method: http.MethodGet, Path: one, Role: gateway.RoleViewer, Handle: p.show},
		{Method: http.MethodPost, Path: one + "/name", Role: gateway.RoleOperator, Action: user.ActionContactNamed, Handle: p.name},
	}, nil
}

// line is one line of the list.
type line struct{ Contact gateway.Contact }

// Called is what people call the contact: a name, or the number.
func (l line) Called() string {
	return cmp.Or(l.Contact.Name, l.Contact.AddressBook, l.Contact.BusinessName, l.Contact.PushName, l.Number(), string(l.Contact.Address()))
}

// Number is the contact's number; empty if only the LID is known.
func (l line) Number() string {
	if l.Contact.JID == "" {
		return ""
	}
	return "+" + l.Contact.JID.User()
}

// listView is the list.
type listView struct {
	frame.InstanceHead

	Contacts      []line
	Total         int
	Search        string // in the names and numbers; empty for all
	Before, After string // the first page and the next one; empty for none
}

// list shows the list, also while the instance is not connected.
func (p *pages) list(r *frame.Request) error {
	found, err := p.Instance(r)
	if err != nil {
		return err
	}
	page, query := frame.PageOf(r.URL.Query()), url.Values{}
	view := listView{InstanceHead: r.Head(found, "contacts")}
	if view.Search = r.Search(); view.Search != "" {
		query.Set("search", view.Search)
	}
	listed, err := p.Contacts.List(r.Context(), found.ID, view.Search, gateway.PageRequest{Page: page, Limit: atOnce})
	if err != nil {
		return err
	}
	for _, one := range listed.Items {
		view.Contacts = append(view.Contacts, line{one})
	}
	view.Total = listed.Total
	view.Before, view.After = frame.Around("/instances/"+found.ID+"/contacts", query, page, atOnce, listed.Total)
	return r.Page("contacts", frame.View{Title: found.Name, Section: "instances", Body: view})
}

// oneView is the page of one contact.
type oneView struct {
	frame.InstanceHead
	line

	About    string
	Username string    // empty for none
	Business *business // nil if it is none
}

// business is what a business says of itself.
type business struct{ gateway.Business }

// opening is when a business is open on a day.
type opening struct {
	Day, Hours web.Word
	From, To   string
}

// Openings are the days on which the business is open.
func (b business) Openings() (all []opening) {
	days := map[string]web.Word{
		"mon": web.Word("Monday"), "tue": web.Word("Tuesday"), "wed": web.Word("Wednesday"), "thu": web.Word("Thursday"),
		"fri": web.Word("Friday"), "sat": web.Word("Saturday"), "sun": web.Word("Sunday"),
	}
	for _, hours := range b.Hours {
		day, known := days[hours.Day]
		switch {
		case !known:
		case hours.Mode == "open_24h":
			all = append(all, opening{Day: day, Hours: web.Word("all day")})
		case hours.Mode == "appointment_only":
			all = append(all, opening{Day: day, Hours: web.Word("by appointment")})
		default:
			all = append(all, opening{Day: day, From: hours.Opens, To: hours.Closes})
		}
	}
	return all
}

// show shows one contact.
func (p *pages) show(r *frame.Request) error {
	found, who, err := p.whoIn(r)
	if err != nil {
		return err
	}
	view := oneView{InstanceHead: r.Head(found, "contacts")}
	details, err := p.Contacts.Get(r.Context(), found.ID, who)
	if view.Refused, err = frame.ForNow(err); err != nil {
		return err
	}
	view.line, view.About, view.Username = line{details.Contact}, details.About, details.Username
	if details.Business != nil {
		view.Business = &business{*details.Business}
	}
	return r.Page("contact", frame.View{Title: cmp.Or(view.Called(), found.Name), Section: "instances", Body: view})
}

// name writes a name into the address book, on all devices of the account.
func (p *pages) name(r *frame.Request) error {
	found, who, err := p.whoIn(r)
	if err != nil {
		return err
	}
	name := strings.TrimSpace(r.PostFormValue("name"))
	if name == "" || utf8.RuneCountInString(name) > maxName || gateway.CleanName(name) != name {
		return gateway.InvalidFields(gateway.FieldError{Field: "name", Message: "must have 1 to 128 visible characters"})
	}
	named, err := p.Contacts.Name(r.Context(), found.ID, who, name)
	if err != nil {
		return err
	}
	r.Entry.Detail = string(named.Address())
	return r.Go("/instances/" + found.ID + "/contacts/" + url.PathEscape(r.PathValue("phone")))
}

// whoIn returns the instance and the contact that a request is about.
func (p *pages) whoIn(r *frame.Request) (gateway.Instance, gateway.Recipient, error) {
	found, err := p.Instance(r)
	if err != nil {
		return found, gateway.Recipient{}, err
	}
	who, err := gateway.ParseRecipient(r.PathValue("phone"))
	if err != nil || !who.IsPerson() {
		return found, who, gateway.Errorf(gateway.NotFound, gateway.CodeNotFound, "there is no such contact")
	}
	return found, who, nil
}
