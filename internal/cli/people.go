// The commands about people: numbers, contacts, presence.

package cli

import (
	"context"
	"errors"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/remote"
	"github.com/recado-project/recado/internal/cli/target"
	"github.com/recado-project/recado/internal/cli/terminal"
)

type numbersCommand struct {
	Check checkNumbersCommand `cmd:"" help:"Show for each number whether it has an account."`
}

type checkNumbersCommand struct {
	target.InstanceFlag
	Numbers []string `arg:"" help:"Phone numbers with country code."`
}

// Run checks the numbers.
func (c checkNumbersCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	checks, err := gateway.CheckNumbers(ctx, id, client.CheckNumbers{Numbers: c.Numbers})
	if err != nil {
		return err
	}
	rows := make([][]string, 0, len(checks.Results))
	for _, check := range checks.Results {
		rows = append(rows, []string{check.Number, terminal.YesNo(check.Exists), check.JID})
	}
	return t.Table(checks.Results, []string{"NUMBER", "ACCOUNT", "CHAT ID"}, rows)
}

// contactsCommand works on contacts.
type contactsCommand struct {
	remote.Contacts
	Picture pictureCommand `cmd:"" help:"Print the URL of a profile picture."`
	Block   blockCommand   `cmd:"" help:"Keep a contact from writing to the account."`
	Unblock unblockCommand `cmd:"" help:"Let a contact write to the account again."`
}

// contactFlags name the contact.
type contactFlags struct {
	target.InstanceFlag
	Contact string `arg:"" help:"Phone number with country code, or chat ID."`
}

// did prints what was done to the contact, unless it failed.
func (f contactFlags) did(t terminal.Terminal, what string, err error) error {
	if err != nil {
		return err
	}
	return t.Done(map[string]any{"contact": f.Contact, "done": what}, "%s %s", what, f.Contact)
}

type pictureCommand struct{ contactFlags }

// Run prints the address of the picture.
func (c pictureCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	picture, err := gateway.GetProfilePicture(ctx, id, c.Contact)
	if err == nil && picture.URL == nil {
		err = errors.New("there is no picture, or the account may not see it")
	}
	if err != nil {
		return err
	}
	return t.Print(picture, *picture.URL)
}

type blockCommand struct{ contactFlags }

// Run blocks the contact.
func (c blockCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err == nil {
		err = gateway.BlockContact(ctx, id, c.Contact)
	}
	return c.did(t, "blocked", err)
}

type unblockCommand struct{ contactFlags }

// Run unblocks the contact.
func (c unblockCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err == nil {
		err = gateway.UnblockContact(ctx, id, c.Contact)
	}
	return c.did(t, "unblocked", err)
}

// presenceCommand shows a contact the presence of the account.
type presenceCommand struct {
	target.InstanceFlag
	To       string `help:"Phone number with country code, or chat ID." required:"" env:"-"`
	Presence string `arg:"" help:"composing, recording, paused, available or unavailable." enum:"composing,recording,paused,available,unavailable"`
}

// Run sends the presence.
func (c presenceCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err == nil {
		err = gateway.SendPresence(ctx, id, client.Presence{To: c.To, Presence: c.Presence})
	}
	if err != nil {
		return err
	}
	return t.Done(map[string]any{"to": c.To, "presence": c.Presence}, "%s sees %s", c.To, c.Presence)
}
