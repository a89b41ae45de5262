// Package signin is the door of the dashboard: it knows whose browser makes a request,
// and turns strangers to the page where they sign in. It has the pages around that as well:
// the welcome of users with a link, the users, the audit list, and one's own profile.
package signin

import (
	"context"
	"embed"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/dashboard/docpages"
	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/required"
	"github.com/recado-project/recado/internal/user"
	"github.com/recado-project/recado/internal/web"
)

// Files are the templates, the translations and the script of the pages.
//
//go:embed *.html locale assets
var Files embed.FS

// startPage is where a user goes after signing in.
const startPage = "/instances"

// SignIns keeps the browsers that are signed in.
type SignIns interface {
	CreateSignIn(ctx context.Context, signIn gateway.SignIn) error
	// UpdateSignIn does nothing if the sign-in was deleted.
	UpdateSignIn(ctx context.Context, signIn gateway.SignIn) error
	FindSignIn(ctx context.Context, tokenHash string) (gateway.SignIn, bool, error)
	DeleteSignIn(ctx context.Context, tokenHash string) error
}

// Config is what the door stands on. The first part is required.
type Config struct {
	Site    *web.Site // made of this package's Files among others
	Logger  *slog.Logger
	Users   *user.Service
	SignIns SignIns
	// Origin returns the address at which the browser reaches the gateway, as a request
	// shows it.
	Origin func(r *http.Request) string
	// Address returns the IP address of the browser; empty if it is not known.
	Address func(r *http.Request) string

	// LinkCommand is the command that prints a link for a user, by which the browser comes to an address. Unless
	// whole is set, it does not show where the data are. nil: recado users link.
	LinkCommand func(name, address string, whole bool) string

	Sandbox bool             // there are phones to look at, and the program is recado dev
	Now     func() time.Time // nil: the wall clock
	Shares  frame.Shares     // with the API
}

// Door lets users in. It is safe for concurrent use.
type Door struct {
	Config

	cookies *cookies
	pages   *frame.Pages
}

// New makes the door.
func New(config Config) (*Door, error) {
	if err := required.Check("signin", config, "LinkCommand", "Now"); err != nil {
		return nil, err
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	if config.LinkCommand == nil {
		config.LinkCommand = func(name, _ string, _ bool) string { return "recado users link " + name }
	}
	d := &Door{Config: config}
	d.cookies = newCookies(config.SignIns, config.Now, d.failed)
	var err error
	d.pages, err = frame.New(frame.Config{
		Site: config.Site, Logger: config.Logger, Users: config.Users, Sandbox: config.Sandbox, Shares: config.Shares,
	}, d.routes()...)
	return d, err
}

// routes is the table of the pages. The use cases write the audit list.
func (d *Door) routes() []frame.Route {
	page := func(role gateway.Role, method, path string, handle func(*frame.Request) error) frame.Route {
		return frame.Route{Method: method, Path: path, Role: role, Handle: handle}
	}
	const everybody, viewer, owner = gateway.Role(""), gateway.RoleViewer, gateway.RoleOwner
	withAnswer := func(route frame.Route) frame.Route {
		route.MaxBody = maxAnswer
		return route
	}
	return []frame.Route{
		page(everybody, http.MethodGet, "/signin", d.showSignIn),
		page(everybody, http.MethodPost, "/signin", d.signIn),
		page(everybody, http.MethodPost, "/signin/passkey/question", d.askForAnyPasskey),
		withAnswer(page(everybody, http.MethodPost, "/signin/passkey", d.signInWithPasskey)),
		page(everybody, http.MethodGet, "/welcome", d.showWelcome),
		page(everybody, http.MethodPost, "/welcome", d.setPassword),
		page(everybody, http.MethodPost, "/signout", d.signOut),

		page(viewer, http.MethodGet, "/profile", d.showProfile),
		page(viewer, http.MethodPost, "/profile/password", d.changePassword),
		page(viewer, http.MethodPost, "/profile/signout", d.signOutEverywhere),
		page(viewer, http.MethodPost, "/profile/passkeys/question", d.askForPasskey),
		withAnswer(page(viewer, http.MethodPost, "/profile/passkeys", d.addPasskey)),
		page(viewer, http.MethodPost, "/profile/passkeys/{passkeyId}/remove", d.removePasskey),

		page(owner, http.MethodGet, "/users", d.showUsers),
		page(owner, http.MethodGet, "/users/new", d.showNewUser),
		page(owner, http.MethodPost, "/users", d.invite),
		page(owner, http.MethodPost, "/users/{userId}/link", d.makeLink),
		page(owner, http.MethodPost, "/users/{userId}/role", d.setRole),
		page(owner, http.MethodPost, "/users/{userId}/signout", d.signOutUser),
		page(owner, http.MethodPost, "/users/{userId}/delete", d.deleteUser),

		page(owner, http.MethodGet, "/audit", d.showAudit),
	}
}

// Owns reports whether a path is one of the door's own pages.
func Owns(path string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch first {
	case "signin", "welcome", "signout", "profile", "users", "audit":
		return true
	default:
		return false
	}
}

// open reports whether a page is for everybody.
func open(path string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return first == "signin" || first == "welcome"
}

// public reports whether strangers get a page too: one for everybody, or a document.
func public(path string) bool {
	return open(path) || docpages.Owns(path)
}

// Handler serves the door's own pages, and next to users who are signed in: the context of
// a request that next gets has a visitor. Others are sent to sign in, but for documents: next gets their requests
// without a visitor.
func (d *Door) Handler(next http.Handler) http.Handler {
	inside := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		visitor, signedIn, err := d.visitor(r)
		if err != nil {
			d.failed(w, r, err)
			return
		}
		switch {
		case signedIn:
			r = r.WithContext(frame.WithVisitor(r.Context(), visitor))
		case !public(r.URL.Path):
			turnAway(w, r)
			return
		}
		if Owns(r.URL.Path) {
			d.pages.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
	return d.cookies.handler(inside, func(r *http.Request) bool { return strings.HasPrefix(d.Origin(r), "https://") })
}

// visitor returns who made a request and whether anybody is signed in. What is remembered
// of a browser is checked against the user as of now, so that all that ends a sign-in does so
// at the next request.
func (d *Door) visitor(r *http.Request) (frame.Visitor, bool, error) {
	known, ok := d.cookies.known(r.Context())
	if !ok {
		return frame.Visitor{}, false, nil
	}
	found, err := d.Users.Get(r.Context(), known.userID)
	switch {
	case gateway.KindOf(err) == gateway.NotFound, err == nil && found.Epoch != known.epoch:
		return frame.Visitor{}, false, d.cookies.forget(r.Context())
	case err != nil:
		return frame.Visitor{}, false, err
	}
	return frame.Visitor{
		Actor: user.As(found, d.Address(r)), Key: found.Key(),
		Watch: func() (<-chan struct{}, func()) { return d.Users.Watch(found, known.browser, known.until) },
	}, true, nil
}

// enter signs the user in on this browser, and leads on to next.
func (d *Door) enter(r *frame.Request, signedIn gateway.User, next string) error {
	if err := d.cookies.enter(r.Context(), signedIn); err != nil {
		return err
	}
	return r.Go(next)
}

// turnAway answers a stranger: a page leads to the sign-in and back.
func turnAway(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	isPage := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case r.Header.Get("HX-Request") == "true" || r.Header.Get("Accept") == "text/event-stream":
		http.Error(w, "not signed in", http.StatusUnauthorized)
	case isPage && r.URL.Path != "/" && r.URL.Path != startPage:
		http.Redirect(w, r, "/signin?next="+url.QueryEscape(r.URL.RequestURI()), http.StatusSeeOther)
	default:
		http.Redirect(w, r, "/signin", http.StatusSeeOther)
	}
}

// failed answers where not even the frame could.
func (d *Door) failed(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() == nil {
		d.Logger.ErrorContext(r.Context(), "sign-in could not be checked", slog.Any("error", err))
	}
	text := d.Site.Words().Text(d.Site.Language(r), web.Word("Something went wrong. The log says why."))
	http.Error(w, text, http.StatusInternalServerError)
}

// nextPage returns the page that a form or link names to go on with, if it is one of ours.
func nextPage(text string) string {
	address, err := url.Parse(text)
	if err != nil || address.Scheme != "" || address.Host != "" || address.User != nil || len(text) > 2048 ||
		!strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") || strings.Contains(text, `\`) ||
		open(address.Path) || address.Path == "/signout" {
		return startPage
	}
	return text
}
