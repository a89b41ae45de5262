// The page where users sign in.

package signin

import (
	"net/http"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/user"
	"github.com/recado-project/recado/internal/web"
)

// signInView is the form.
type signInView struct {
	Name, Next string
	Problem    string
	Started    bool // somebody has a password
	Passkeys   bool // browsers have passkeys at this address
	Hint       linkHint
}

// showSignIn shows the form, or goes on if the user is signed in already.
func (d *Door) showSignIn(r *frame.Request) error {
	next := nextPage(r.URL.Query().Get("next"))
	if r.Visitor.Actor.UserID != "" {
		return r.Go(next)
	}
	return d.signInPage(r, http.StatusOK, signInView{Next: next})
}

func (d *Door) signInPage(r *frame.Request, status int, view signInView) (err error) {
	if view.Started, err = d.Users.Started(r.Context()); err != nil {
		return err
	}
	view.Passkeys = user.PasskeysWorkAt(d.Origin(r.Request))
	name := view.Name
	if !view.Started {
		name = string(gateway.RoleOwner) // who is the first
	}
	view.Hint = d.linkHint(r, name, view.Started)
	return r.Show(status, "sign_in", frame.View{Title: r.Text(web.Word("Sign in")), Body: view})
}

// signIn takes the form.
func (d *Door) signIn(r *frame.Request) error {
	if err := parse(r); err != nil {
		return err
	}
	view := signInView{Name: r.PostFormValue("name"), Next: nextPage(r.PostFormValue("next"))}
	signedIn, err := d.Users.SignIn(r.Context(), view.Name, r.PostFormValue("password"), d.Address(r.Request))
	if status, text, ok := problem(r, err); ok {
		view.Name, view.Problem = gateway.CleanName(view.Name), text
		return d.signInPage(r, status, view)
	}
	if err != nil {
		return err
	}
	return d.enter(r, signedIn, view.Next)
}

// signOut ends the sign-in of this browser.
func (d *Door) signOut(r *frame.Request) error {
	if browser, ok := d.cookies.known(r.Context()); ok {
		d.Users.SignedOut(r.Context(), r.Visitor.Actor, browser.browser)
	}
	if err := d.cookies.forget(r.Context()); err != nil {
		return err
	}
	return r.Go("/signin")
}

// parse reads a form.
func parse(r *frame.Request) error {
	if err := r.ParseForm(); err != nil {
		return gateway.Errorf(gateway.Invalid, gateway.CodeValidation, "the form can't be read")
	}
	return nil
}
