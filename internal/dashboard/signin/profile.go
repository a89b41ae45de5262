// The page of the visitor: password, passkeys, and where one is signed in.

package signin

import (
	"encoding/base64"
	"net/http"
	"time"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/user"
	"github.com/recado-project/recado/internal/web"
)

// profileView is the page.
type profileView struct {
	Name     string
	Role     web.Word
	May      web.Word // what the role allows
	Least    int      // characters of a password
	Problem  string   // with the new password
	Changed  bool     // the password
	Passkeys []passkeyRow
	// PasskeysWork says that browsers have passkeys at this address.
	PasskeysWork bool
}

// passkeyRow is one line of the table of passkeys.
type passkeyRow struct {
	ID, Name              string
	CreatedAt, LastUsedAt time.Time
}

// showProfile shows the page.
func (d *Door) showProfile(r *frame.Request) error {
	return d.profilePage(r, http.StatusOK, profileView{})
}

func (d *Door) profilePage(r *frame.Request, status int, view profileView) error {
	passkeys, err := d.Users.ListPasskeys(r.Context(), r.Visitor.Actor)
	if err != nil {
		return err
	}
	for _, passkey := range passkeys {
		view.Passkeys = append(view.Passkeys, passkeyRow{
			ID: base64.RawURLEncoding.EncodeToString(passkey.ID), Name: passkey.Name,
			CreatedAt: passkey.CreatedAt, LastUsedAt: passkey.LastUsedAt,
		})
	}
	view.Name, view.Role, view.May = r.Visitor.Actor.Name, roleName(r.Visitor.Actor.Role), roleMay(r.Visitor.Actor.Role)
	view.Least, view.PasskeysWork = user.MinPassword, user.PasskeysWorkAt(d.Origin(r.Request))
	return r.Show(status, "profile", frame.View{Title: r.Text(web.Word("Your profile")), Section: "profile", Body: view})
}

// changePassword takes the form of another password. All other browsers are signed out.
func (d *Door) changePassword(r *frame.Request) error {
	if err := parse(r); err != nil {
		return err
	}
	if text := unequal(r); text != "" {
		return d.profilePage(r, http.StatusBadRequest, profileView{Problem: text})
	}
	changed, err := d.Users.ChangePassword(r.Context(), r.Visitor.Actor, r.PostFormValue("present"), r.PostFormValue("password"))
	if status, text, ok := problem(r, err); ok {
		if status == http.StatusUnauthorized {
			text = r.Text(web.Word("The current password is wrong."))
		}
		return d.profilePage(r, status, profileView{Problem: text})
	}
	if err != nil {
		return err
	}
	if err := d.cookies.enter(r.Context(), changed); err != nil {
		return err
	}
	return d.profilePage(r, http.StatusOK, profileView{Changed: true})
}

// signOutEverywhere ends all sign-ins of the visitor, here too.
func (d *Door) signOutEverywhere(r *frame.Request) error {
	if err := d.Users.SignOutEverywhere(r.Context(), r.Visitor.Actor, r.Visitor.Actor.UserID); err != nil {
		return err
	}
	if err := d.cookies.forget(r.Context()); err != nil {
		return err
	}
	return r.Go("/signin")
}
