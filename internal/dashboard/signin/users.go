// The users of the account, for owners.

package signin

import (
	"net/http"
	"strings"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/user"
	"github.com/recado-project/recado/internal/web"
)

const (
	// rowsAtOnce is how many rows a page of the audit list has.
	rowsAtOnce = 50
	// usersAtOnce is how many rows the table of users has: each brings a dialog.
	usersAtOnce = 25
)

// usersView is the table.
type usersView struct {
	Rows          []userRow
	Roles         []roleChoice
	Before, After string // the first page and the next one; empty for none
}

// userRow is one line of the table.
type userRow struct {
	User gateway.User

	Me        bool
	RoleName  web.Word
	State     web.Word
	StateTone string
}

// roleChoice is a role to choose.
type roleChoice struct {
	Role      gateway.Role
	Name, May web.Word
}

// roleName is a role in words.
func roleName(role gateway.Role) web.Word {
	switch role {
	case gateway.RoleOwner:
		return web.Word("Owner")
	case gateway.RoleOperator:
		return web.Word("Operator")
	default:
		return web.Word("Viewer")
	}
}

// roleMay is what a role allows.
func roleMay(role gateway.Role) web.Word {
	switch role {
	case gateway.RoleOwner:
		return web.Word("Does everything, and manages API keys and users.")
	case gateway.RoleOperator:
		return web.Word("Manages instances, webhooks and messages.")
	default:
		return web.Word("Sees everything except API keys and users, and changes nothing.")
	}
}

func roleChoices() []roleChoice {
	var choices []roleChoice
	for _, role := range gateway.Roles() {
		choices = append(choices, roleChoice{Role: role, Name: roleName(role), May: roleMay(role)})
	}
	return choices
}

// showUsers shows the table.
func (d *Door) showUsers(r *frame.Request) error {
	page := frame.PageOf(r.URL.Query())
	found, err := d.Users.List(r.Context(), r.Visitor.Actor, gateway.PageRequest{Page: page, Limit: usersAtOnce})
	if err != nil {
		return err
	}
	view := usersView{Roles: roleChoices()}
	for _, one := range found.Items {
		row := userRow{User: one, Me: one.ID == r.Visitor.Actor.UserID, RoleName: roleName(one.Role)}
		switch {
		case one.Password != "":
			row.State, row.StateTone = web.Word("Can sign in"), "good"
		case d.Now().Before(one.LinkUntil):
			row.State, row.StateTone = web.Word("Invited"), "wait"
		case row.Me: // who runs dev comes by its links
			row.State, row.StateTone = web.Word("Signed in with a link"), "good"
		default:
			row.State = web.Word("Needs a new link")
		}
		view.Rows = append(view.Rows, row)
	}
	view.Before, view.After = frame.Around("/users", nil, page, usersAtOnce, found.Total)
	return r.Page("users", frame.View{Title: r.Text(web.Word("Users")), Section: "users", Body: view})
}

// newUserView is the form of a new user.
type newUserView struct {
	Name    string
	Role    gateway.Role
	Roles   []roleChoice
	Problem string
}

// showNewUser shows the form of a new user.
func (d *Door) showNewUser(r *frame.Request) error {
	return d.newUserPage(r, http.StatusOK, newUserView{Role: gateway.RoleViewer})
}

func (d *Door) newUserPage(r *frame.Request, status int, view newUserView) error {
	view.Roles = roleChoices()
	return r.Show(status, "user_new", frame.View{Title: r.Text(web.Word("New user")), Section: "users", Body: view})
}

// linkView is a link, which is shown once.
type linkView struct {
	Link user.Link

	Address string
}

// invite makes a user, and shows the link.
func (d *Door) invite(r *frame.Request) error {
	if err := parse(r); err != nil {
		return err
	}
	view := newUserView{Name: strings.TrimSpace(r.PostFormValue("name")), Role: gateway.Role(r.PostFormValue("role"))}
	link, err := d.Users.Invite(r.Context(), r.Visitor.Actor, view.Name, view.Role)
	if status, text, ok := problem(r, err); ok {
		view.Name, view.Problem = gateway.CleanName(view.Name), text
		return d.newUserPage(r, status, view)
	}
	if err != nil {
		return err
	}
	return d.linkPage(r, link)
}

// makeLink makes another link for a user, and shows it.
func (d *Door) makeLink(r *frame.Request) error {
	link, err := d.Users.NewLink(r.Context(), r.Visitor.Actor, r.PathValue("userId"))
	if err != nil {
		return err
	}
	return d.linkPage(r, link)
}

func (d *Door) linkPage(r *frame.Request, link user.Link) error {
	return r.Page("user_link", frame.View{Title: link.User.Name, Section: "users", Body: linkView{
		Link: link, Address: d.Origin(r.Request) + link.Path(),
	}})
}

// setRole changes the role of a user.
func (d *Door) setRole(r *frame.Request) error {
	if err := parse(r); err != nil {
		return err
	}
	if err := d.Users.SetRole(r.Context(), r.Visitor.Actor, r.PathValue("userId"), gateway.Role(r.PostFormValue("role"))); err != nil {
		return explain(r, err)
	}
	return r.Go("/users")
}

// signOutUser ends all sign-ins of a user.
func (d *Door) signOutUser(r *frame.Request) error {
	if err := d.Users.SignOutEverywhere(r.Context(), r.Visitor.Actor, r.PathValue("userId")); err != nil {
		return err
	}
	return r.Done("/users", web.Word("Signed out everywhere."))
}

// deleteUser removes a user.
func (d *Door) deleteUser(r *frame.Request) error {
	if err := d.Users.Delete(r.Context(), r.Visitor.Actor, r.PathValue("userId")); err != nil {
		return explain(r, err)
	}
	return r.Go("/users")
}
