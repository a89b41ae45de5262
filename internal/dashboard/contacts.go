// The people whom an account knows: a list, and a page for each, on which the address book is written.

package dashboard

import (
	"cmp"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/web"
)

const (
	// contactsAtOnce is how many contacts a page of the list has.
	contactsAtOnce = 50
	// maxContactName bounds a name, in letters, as in the API.
	maxContactName = 128
)

// contactLine is one line of the list.
type contactLine struct{ Contact gateway.Contact }

// Called is what people call the contact: a name, or the number.
func (l contactLine) Called() string {
	return cmp.Or(l.Contact.Name, l.Contact.AddressBook, l.Contact.BusinessName, l.Contact.PushName, l.Number(), string(l.Contact.Address()))
}

// Number is the contact's number; empty if only the LID is known.
func (l contactLine) Number() string {
	if l.Contact.JID == "" {
		return ""
	}
	return "+" + l.Contact.JID.User()
}

// contactsView is the list.
type contactsView struct {
	instanceHead

	Contacts      []contactLine
	Total         int
	Search        string // in the names and numbers; empty for all
	Before, After string // the first page and the next one; empty for none
}

// showContacts shows the list, also while the instance is not connected.
func (p *pages) showContacts(r *frame.Request, found gateway.Instance) error {
	page, query := frame.PageOf(r.URL.Query()), url.Values{}
	view := contactsView{instanceHead: headOf(found, "contacts", r.Visitor.Actor.Role)}
	if view.Search = r.Search(); view.Search != "" {
		query.Set("search", view.Search)
	}
	listed, err := p.People.Contacts().List(r.Context(), found.ID, view.Search, gateway.PageRequest{Page: page, Limit: contactsAtOnce})
	if err != nil {
		return err
	}
	for _, one := range listed.Items {
		view.Contacts = append(view.Contacts, contactLine{one})
	}
	view.Total = listed.Total
	view.Before, view.After = frame.Around("/instances/"+found.ID+"/contacts", query, page, contactsAtOnce, listed.Total)
	return r.Page("contacts", frame.View{Title: found.Name, Section: "instances", Body: view})
}

// contactView is the page of one contact.
type contactView struct {
	instanceHead
	contactLine

	About    string
	Username string    // empty for none
	Business *business // nil if it is none
}

// business is what a business says of itself.
type business struct{ gateway.Business }

// openHours is when a business is open on a day.
type openHours struct {
	Day, Hours web.Word
	From, To   string
}

// Openings are the days on which the business is open.
func (b business) Openings() (all []openHours) {
	days := map[string]web.Word{
		"mon": web.Word("Monday"), "tue": web.Word("Tuesday"), "wed": web.Word("Wednesday"), "thu": web.Word("Thursday"),
		"fri": web.Word("Friday"), "sat": web.Word("Saturday"), "sun": web.Word("Sunday"),
	}
	for _, hours := range b.Hours {
		day, known := days[hours.Day]
		switch {
		case !known:
		case hours.Mode == "open_24h":
			all = append(all, openHours{Day: day, Hours: web.Word("all day")})
		case hours.Mode == "appointment_only":
			all = append(all, openHours{Day: day, Hours: web.Word("by appointment")})
		default:
			all = append(all, openHours{Day: day, From: hours.Opens, To: hours.Closes})
		}
	}
	return all
}

// showContact shows one contact.
func (p *pages) showContact(r *frame.Request, found gateway.Instance) error {
	who, err := contactIn(r)
	if err != nil {
		return err
	}
	view := contactView{instanceHead: headOf(found, "contacts", r.Visitor.Actor.Role)}
	details, err := p.People.Contacts().Get(r.Context(), found.ID, who)
	if view.Refused, err = frame.ForNow(err); err != nil {
		return err
	}
	view.contactLine, view.About, view.Username = contactLine{details.Contact}, details.About, details.Username
	if details.Business != nil {
		view.Business = &business{*details.Business}
	}
	return r.Page("contact", frame.View{Title: cmp.Or(view.Called(), found.Name), Section: "instances", Body: view})
}

// nameContact writes a name into the address book, on all devices of the account.
func (p *pages) nameContact(r *frame.Request, found gateway.Instance) error {
	who, err := contactIn(r)
	if err != nil {
		return err
	}
	name := strings.TrimSpace(r.PostFormValue("name"))
	if name == "" || utf8.RuneCountInString(name) > maxContactName || gateway.CleanName(name) != name {
		return gateway.InvalidField("name", "must have 1 to 128 visible characters")
	}
	named, err := p.People.Contacts().Name(r.Context(), found.ID, who, name)
	if err != nil {
		return err
	}
	r.Entry.Detail = string(named.Address())
	return r.Go("/instances/" + found.ID + "/contacts/" + url.PathEscape(r.PathValue("phone")))
}

// contactIn returns the contact of a request's path.
func contactIn(r *frame.Request) (gateway.Recipient, error) {
	who, err := gateway.ParseRecipient(r.PathValue("phone"))
	if err != nil || !who.IsPerson() {
		return who, gateway.Errorf(gateway.NotFound, gateway.CodeNotFound, "there is no such contact")
	}
	return who, nil
}
