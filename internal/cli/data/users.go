// Users of the dashboard, for who works on the machine itself and may be locked out.

package data

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/cli/terminal"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/user"
)

// UsersCommand works on the data itself, whether a gateway runs on it or not: who has
// forgotten the password can't sign in to change it.
type UsersCommand struct {
	List   listUsersCommand  `cmd:"" help:"List the users."`
	Create createUserCommand `cmd:"" help:"Create a user, and print the link with which the password is set."`
	Link   linkUserCommand   `cmd:"" help:"Print a new link with which a user sets another password."`
	Delete deleteUserCommand `cmd:"" help:"Delete a user, who is signed out at once."`
}

// users are those of an account, and the actor that the command line is: it may do what an owner may.
type users struct {
	service *user.Service
	data    accountData
	actor   user.Actor
	given   []string // the flags that have named the data
}

// ProvideUsers finds the users of the account. Kong calls it for a Run method that takes them.
func (f AccountFlags) ProvideUsers(ctx context.Context, t terminal.Terminal, closers *Closers) (users, error) {
	on, err := f.ProvideAccount(ctx, t, closers)
	if err != nil {
		return users{}, err
	}
	service, err := user.New(user.Config{Store: on.store.Users, Logger: t.Logger, Now: t.Now})
	return users{service, on, user.Actor{AccountID: on.account.ID, Name: "command line", Role: gateway.RoleOwner}, f.Given(true)}, err
}

// find returns the user of the account with the name.
func (u users) find(ctx context.Context, name string) (gateway.User, error) {
	found, ok, err := u.data.store.Users.FindUserByName(ctx, name)
	if err != nil {
		return gateway.User{}, err
	}
	if !ok || found.AccountID != u.data.account.ID {
		return gateway.User{}, fmt.Errorf("account %s has no user %s: `%s users list %s` shows its users",
			u.data.account.Name, name, terminal.Program(), strings.Join(u.given, " "))
	}
	return found, nil
}

// linkFlags say how a link begins.
type linkFlags struct {
	PublicURL string `help:"Address where browsers reach the gateway; the link begins with it." name:"public-url" default:"http://127.0.0.1:8080"`
}

// standardURL is where a gateway answers that was not told where to listen.
const standardURL = "http://127.0.0.1:8080"

// LinkCommand is the command that prints a link for a user of the gateway at an address. Unless whole is set, it does
// not show where the data are.
func (f Flags) LinkCommand(name, address string, whole bool) string {
	words := append([]string{terminal.Program(), "users", "link", terminal.Quoted(name)}, f.Given(whole)...)
	if address != standardURL {
		words = append(words, "--public-url", terminal.Quoted(address))
	}
	return strings.Join(words, " ")
}

// AfterApply refuses an address that no link can begin with.
func (f linkFlags) AfterApply() error {
	if !terminal.IsWebAddress(f.PublicURL) {
		return terminal.WrongUsage("--public-url %q needs http:// or https:// and a host", f.PublicURL)
	}
	return terminal.CheckRoot(f.PublicURL)
}

// show prints a link.
func (f linkFlags) show(t terminal.Terminal, link user.Link) error {
	address := strings.TrimRight(f.PublicURL, "/") + link.Path()
	t.Notef("whoever opens this link sets the password of %s; it works once, until %s", link.User.Name, terminal.Moment(link.Until))
	if f.PublicURL == standardURL {
		t.Notef("a gateway that answers elsewhere is named by --public-url")
	}
	return t.Print(map[string]any{"name": link.User.Name, "role": link.User.Role, "link": address, "until": link.Until}, address)
}

// shownUser is a user as JSON.
type shownUser struct {
	ID         string       `json:"id"`
	Name       string       `json:"name"`
	Role       gateway.Role `json:"role"`
	State      string       `json:"state"`
	SignedInAt *time.Time   `json:"signedInAt"`
}

func newShownUser(u gateway.User, now time.Time) shownUser {
	shown := shownUser{ID: u.ID, Name: u.Name, Role: u.Role, State: "active"}
	switch {
	case u.Password != "":
	case now.Before(u.LinkUntil):
		shown.State = "invited"
	default:
		shown.State = "needs a link"
	}
	if !u.SignedInAt.IsZero() {
		shown.SignedInAt = &u.SignedInAt
	}
	return shown
}

type listUsersCommand struct{ AccountFlags }

// Run lists the users, oldest first.
func (c listUsersCommand) Run(ctx context.Context, t terminal.Terminal, on users) error {
	list := func(page gateway.PageRequest) (gateway.Page[gateway.User], error) {
		return on.service.List(ctx, on.actor, page)
	}
	shown := []shownUser{} // never null
	for one, err := range every(list) {
		if err != nil {
			return err
		}
		shown = append(shown, newShownUser(one, t.Now()))
	}
	return terminal.Rows(t, shown, []string{"NAME", "ROLE", "STATE", "SIGNED IN"}, func(one shownUser) []string {
		return []string{one.Name, string(one.Role), one.State, terminal.MomentOrNever(one.SignedInAt)}
	})
}

type createUserCommand struct {
	AccountFlags
	linkFlags
	Name string       `arg:"" help:"Name to sign in with."`
	Role gateway.Role `help:"What the user may do: owner, operator or viewer." required:"" env:"-" enum:"owner,operator,viewer"`
}

// Run creates the user.
func (c createUserCommand) Run(ctx context.Context, t terminal.Terminal, on users) error {
	link, err := on.service.Invite(ctx, on.actor, c.Name, c.Role)
	if err != nil {
		return err
	}
	return c.show(t, link)
}

type linkUserCommand struct {
	AccountFlags
	linkFlags
	Name string `arg:"" help:"Name of the user."`
}

// Run makes the link.
func (c linkUserCommand) Run(ctx context.Context, t terminal.Terminal, on users) error {
	found, err := on.find(ctx, c.Name)
	if err != nil {
		return err
	}
	link, err := on.service.NewLink(ctx, on.actor, found.ID)
	if err != nil {
		return err
	}
	return c.show(t, link)
}

type deleteUserCommand struct {
	AccountFlags
	Name string `arg:"" help:"Name of the user."`
}

// Run deletes the user.
func (c deleteUserCommand) Run(ctx context.Context, t terminal.Terminal, on users) error {
	found, err := on.find(ctx, c.Name)
	if err != nil {
		return err
	}
	return t.Did("deleted", "name", found.Name, on.service.Delete(ctx, on.actor, found.ID))
}
