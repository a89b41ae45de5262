// The page where users sign in, and how they sign out.

package signin

import (
	"net/http"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/user"
	"github.com/recado-project/recado/internal/web"
)

// signInView is the page.
type signInView struct {
	Name    string
	Next    string // the page to go on with
	Problem string // why the last try failed; empty for none
}

// showSignIn shows the page, or goes on if somebody is signed in already.
func (d *Door) showSignIn(r *frame.Request) error {
	next := nextPage(r.URL.Query().Get("next"))
	if r.Visitor.UserID != "" {
		return r.Go(next)
	}
	return r.Page("sign_in", frame.View{Title: r.Text(web.Word("Sign in")), Body: signInView{Next: next}})
}

// signIn lets in whoever has the name and the password.
func (d *Door) signIn(r *frame.Request) error {
	view := signInView{Name: r.FormValue("name"), Next: nextPage(r.FormValue("next"))}
	found, err := d.Users.SignIn(r.Context(), view.Name, r.FormValue("password"), d.address(r.Request))
	if err != nil {
		status, text, ok := problem(r, err)
		if !ok {
			return err
		}
		view.Problem = text
		return r.Refuse(status, "sign_in", frame.View{Title: r.Text(web.Word("Sign in")), Body: view})
	}
	if err := d.enter(r, found); err != nil {
		return err
	}
	return r.Go(view.Next)
}

// signOut ends the sign-in of this browser.
func (d *Door) signOut(r *frame.Request) error {
	known, ok := d.cookies.known(r.Context())
	if err := d.cookies.forget(r.Context()); err != nil {
		return err
	}
	if ok && r.Visitor.Actor != (user.Actor{}) {
		d.Users.SignedOut(r.Context(), r.Visitor.Actor, known.browser)
	}
	http.Redirect(r.W, r.Request, "/signin", http.StatusSeeOther)
	return nil
}
