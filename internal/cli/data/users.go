// Users of the dashboard, for who works on the machine itself and may be locked out.

package data

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/cli/terminal"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store"
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

// usersOpen is the data with its users.
type usersOpen struct {
	Store *store.Store

	users   *user.Service
	account gateway.Account
	actor   user.Actor // the command line, which may do what an owner may
}

// openUsers opens existing data.
func (f AccountFlags) openUsers(ctx context.Context, t terminal.Terminal) (usersOpen, error) {
	opened, account, err := f.openExisting(ctx, t)
	if err != nil {
		return usersOpen{}, err
	}
	users, err := user.New(user.Config{Store: opened.Users, Logger: t.Logger, Now: t.Now})
	if err != nil {
		return usersOpen{}, errors.Join(err, opened.Close())
	}
	actor := user.Actor{AccountID: account.ID, Name: "command line", Role: gateway.RoleOwner}
	return usersOpen{Store: opened, users: users, account: account, actor: actor}, nil
}

// find returns the user of the account with the name.
func (o usersOpen) find(ctx context.Context, name string) (gateway.User, error) {
	found, ok, err := o.Store.Users.FindUserByName(ctx, name)
	if err != nil {
		return gateway.User{}, err
	}
	if !ok || found.AccountID != o.account.ID {
		return gateway.User{}, fmt.Errorf("account %s has no user %s: `recado users list` shows its users", o.account.Name, name)
	}
	return found, nil
}

// linkFlags say how a link begins.
type linkFlags struct {
	PublicURL string `help:"Address where browsers reach the gateway; the link begins with it." name:"public-url" default:"http://127.0.0.1:8080"`
}

// check refuses an address that no link can begin with.
func (f linkFlags) check() error {
	if !terminal.IsWebAddress(f.PublicURL) {
		return terminal.WrongUsage("--public-url %q needs http:// or https:// and a host", f.PublicURL)
	}
	if err := terminal.CheckRoot(f.PublicURL); err != nil {
		return err
	}
	return nil
}

// show prints a link.
func (f linkFlags) show(t terminal.Terminal, link user.Link) error {
	address := strings.TrimRight(f.PublicURL, "/") + link.Path()
	t.Notef("whoever opens this link sets the password of %s; it works once, until %s", link.User.Name, terminal.Moment(link.Until))
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

type listUsersCommand struct {
	AccountFlags
}

// Run lists the users, oldest first.
func (c listUsersCommand) Run(ctx context.Context, t terminal.Terminal) (err error) {
	opened, err := c.openUsers(ctx, t)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Store.Close()) }()
	users := []shownUser{} // never null
	var rows [][]string
	for number := 1; ; number++ {
		page, err := opened.users.List(ctx, opened.actor, gateway.PageRequest{Page: number, Limit: itemsAtOnce})
		if err != nil {
			return err
		}
		for _, u := range page.Items {
			shown := newShownUser(u, t.Now())
			users = append(users, shown)
			rows = append(rows, []string{u.Name, string(u.Role), shown.State, terminal.Moment(u.SignedInAt)})
		}
		if number*itemsAtOnce >= page.Total {
			return t.Table(users, []string{"NAME", "ROLE", "STATE", "SIGNED IN"}, rows)
		}
	}
}

type createUserCommand struct {
	AccountFlags
	linkFlags
	Name string       `arg:"" help:"Name to sign in with."`
	Role gateway.Role `help:"What the user may do: owner, operator or viewer." required:"" env:"-" enum:"owner,operator,viewer"`
}

// Run creates the user.
func (c createUserCommand) Run(ctx context.Context, t terminal.Terminal) (err error) {
	if err := c.check(); err != nil {
		return err
	}
	opened, err := c.openUsers(ctx, t)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Store.Close()) }()
	link, err := opened.users.Invite(ctx, opened.actor, c.Name, c.Role)
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
func (c linkUserCommand) Run(ctx context.Context, t terminal.Terminal) (err error) {
	if err := c.check(); err != nil {
		return err
	}
	opened, err := c.openUsers(ctx, t)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Store.Close()) }()
	found, err := opened.find(ctx, c.Name)
	if err != nil {
		return err
	}
	link, err := opened.users.NewLink(ctx, opened.actor, found.ID)
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
func (c deleteUserCommand) Run(ctx context.Context, t terminal.Terminal) (err error) {
	opened, err := c.openUsers(ctx, t)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Store.Close()) }()
	found, err := opened.find(ctx, c.Name)
	if err != nil {
		return err
	}
	if err := opened.users.Delete(ctx, opened.actor, found.ID); err != nil {
		return err
	}
	return t.Done(map[string]any{"name": found.Name, "done": "deleted"}, "deleted %s", found.Name)
}
