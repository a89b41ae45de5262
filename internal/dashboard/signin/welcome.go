// The page that a link leads to: it sets a password, or signs in a developer.

package signin

import (
	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/user"
	"github.com/recado-project/recado/internal/web"
)

// welcomeView is the page.
type welcomeView struct {
	Name    string // empty: the link has ended
	Least   int    // how many characters a password has
	Problem string // why the last try failed; empty for none
}

// showWelcome takes the secret of a link out of the address, where it would stay in the
// browser's history, and shows the form.
func (d *Door) showWelcome(r *frame.Request) error {
	query := r.URL.Query()
	if token := query.Get("dev"); token != "" {
		found, err := d.Users.UseDevLink(r.Context(), token, d.address(r.Request))
		if err == nil {
			err = d.enter(r, found)
		}
		if err != nil {
			return d.refuseLink(r, err)
		}
		return r.Go(startPage)
	}
	if token := query.Get("token"); token != "" {
		d.cookies.keep(r.Context(), keyLink, token)
		return r.Go("/welcome")
	}
	found, err := d.Users.FindLink(r.Context(), d.cookies.kept(r.Context(), keyLink))
	if err != nil {
		return d.refuseLink(r, err)
	}
	return r.Page("welcome", d.welcome(r, welcomeView{Name: found.Name}))
}

// setPassword sets the password, and signs the user in.
func (d *Door) setPassword(r *frame.Request) error {
	token := d.cookies.kept(r.Context(), keyLink)
	found, err := d.Users.FindLink(r.Context(), token)
	if err != nil {
		return d.refuseLink(r, err)
	}
	if r.FormValue("password") != r.FormValue("again") {
		return r.Refuse(400, "welcome", d.welcome(r, welcomeView{Name: found.Name, Problem: r.Text(web.Word("The two passwords are not the same."))}))
	}
	signedIn, err := d.Users.SetPassword(r.Context(), token, r.FormValue("password"), d.address(r.Request))
	if gateway.KindOf(err) == gateway.Gone {
		return d.refuseLink(r, err)
	}
	if err != nil {
		status, text, ok := problem(r, err)
		if !ok {
			return err
		}
		return r.Refuse(status, "welcome", d.welcome(r, welcomeView{Name: found.Name, Problem: text}))
	}
	if err := d.enter(r, signedIn); err != nil {
		return err
	}
	return r.Go(startPage)
}

// refuseLink says that a link has ended, and how to get another.
func (d *Door) refuseLink(r *frame.Request, err error) error {
	status, _, ok := problem(r, err)
	if !ok {
		return err
	}
	return r.Refuse(status, "welcome", d.welcome(r, welcomeView{}))
}

func (d *Door) welcome(r *frame.Request, view welcomeView) frame.View {
	view.Least = user.MinPassword
	return frame.View{Title: r.Text(web.Word("Welcome")), Body: view}
}
