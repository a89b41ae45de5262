// The page for users who come with a link: there they set a password.

package signin

import (
	"net/http"
	"net/netip"
	"net/url"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/user"
	"github.com/recado-project/recado/internal/web"
)

// welcomeView is the form.
type welcomeView struct {
	Name    string
	Role    web.Word
	New     bool // there was no password before
	Least   int  // characters of a password
	Problem string
	Ended   bool // the link
	Hint    linkHint
}

// linkHint says how who works on the machine makes a link.
type linkHint struct {
	Dev     bool   // recado dev prints one when it starts
	Command string // prints one for a user
}

// linkHint is the hint for a user; an empty name stands for any. Where the data are is told only before anybody
// has a password, and to who seems to sit at the machine: behind some proxies everybody does.
func (d *Door) linkHint(r *frame.Request, name string, started bool) linkHint {
	if name == "" {
		name = r.Text(web.Word("NAME"))
	}
	origin := d.Origin(r.Request)
	whole := !started && isHere(d.Address(r.Request)) && isHere(hostOf(origin))
	return linkHint{Dev: d.Sandbox, Command: d.LinkCommand(name, origin, whole)}
}

// isHere reports whether a host is this machine as it calls itself.
func isHere(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

func hostOf(origin string) string {
	address, err := url.Parse(origin)
	if err != nil {
		return ""
	}
	return address.Hostname()
}

// showWelcome shows the form of a link. The secret of the link moves from the address to
// what is remembered of the browser, as a hash, so that it is in no history, no screenshot and not in
// the database.
func (d *Door) showWelcome(r *frame.Request) error {
	query := r.URL.Query()
	if token := query.Get("dev"); token != "" {
		return d.enterDev(r, token)
	}
	if token := query.Get("token"); token != "" {
		link := user.HashOf(token)
		if _, err := d.Users.FindLink(r.Context(), link); err != nil {
			return d.linkProblem(r, err)
		}
		d.cookies.keep(r.Context(), keyLink, string(link))
		return r.Go("/welcome")
	}
	found, err := d.Users.FindLink(r.Context(), user.LinkHash(d.cookies.kept(r.Context(), keyLink)))
	if err != nil {
		return d.linkProblem(r, err)
	}
	return d.welcomePage(r, http.StatusOK, found, "")
}

// enterDev signs in the user who came with the link that dev prints.
func (d *Door) enterDev(r *frame.Request, token string) error {
	signedIn, err := d.Users.UseDevLink(r.Context(), token, d.Address(r.Request))
	if err != nil {
		return d.linkProblem(r, err)
	}
	return d.enter(r, signedIn, nextPage(r.URL.Query().Get("next")))
}

// setPassword takes the form, and signs the user in.
func (d *Door) setPassword(r *frame.Request) error {
	if err := parse(r); err != nil {
		return err
	}
	link := user.LinkHash(d.cookies.kept(r.Context(), keyLink))
	found, err := d.Users.FindLink(r.Context(), link)
	if err != nil {
		return d.linkProblem(r, err)
	}
	if text := unequal(r); text != "" {
		return d.welcomePage(r, http.StatusBadRequest, found, text)
	}
	signedIn, err := d.Users.SetPassword(r.Context(), link, r.PostFormValue("password"), d.Address(r.Request))
	if failure, ok := gateway.AsError(err); ok && failure.Code != user.CodeLinkEnded {
		if status, text, ok := problem(r, err); ok {
			return d.welcomePage(r, status, found, text)
		}
	}
	if err != nil {
		return d.linkProblem(r, err)
	}
	return d.enter(r, signedIn, startPage)
}

// unequal says that the two fields of a new password differ; empty if they are the same.
func unequal(r *frame.Request) string {
	if r.PostFormValue("password") == r.PostFormValue("again") {
		return ""
	}
	return r.Text(web.Word("The passwords don't match."))
}

func (d *Door) welcomePage(r *frame.Request, status int, found gateway.User, problem string) error {
	return r.Show(status, "welcome", frame.View{Title: r.Text(web.Word("Welcome")), Body: welcomeView{
		Name: found.Name, Role: roleName(found.Role), New: found.Password == "", Least: user.MinPassword, Problem: problem,
	}})
}

// linkProblem shows that a link has ended.
func (d *Door) linkProblem(r *frame.Request, err error) error {
	status, text, ok := problem(r, err)
	if !ok {
		return err
	}
	return r.Show(status, "welcome", frame.View{Title: r.Text(web.Word("Welcome")), Body: welcomeView{Problem: text, Ended: true, Hint: d.linkHint(r, "", true)}})
}
