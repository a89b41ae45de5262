// People: numbers, contacts, and presence.

package remote

import (
	"context"
	"errors"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/terminal"
)

// Numbers are the commands about phone numbers.
type Numbers struct {
	Check checkNumbersCommand `cmd:"" help:"Show for each number whether it has an account."`
}

type checkNumbersCommand struct {
	InstanceFlag
	Numbers []string `arg:"" help:"Phone numbers with country code."`
}

// Run checks the numbers.
func (c checkNumbersCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	checks, err := on.Gateway.CheckNumbers(ctx, on.ID, client.CheckNumbers{Numbers: c.Numbers})
	head := []string{"NUMBER", "ACCOUNT", "CHAT ID"}
	return terminal.Rows(t.Unless(err), checks.Results, head, func(check client.NumberCheck) []string {
		return []string{check.Number, terminal.YesNo(check.Exists), check.JID}
	})
}

// Contacts are the commands about contacts.
type Contacts struct {
	List      listContactsCommand `cmd:"" help:"List the people whom the account knows by name, also while the instance is not connected."`
	Show      showContactCommand  `cmd:"" help:"Show what is known of somebody."`
	Name      nameCommand         `cmd:"" help:"Write somebody's name into the address book of the account."`
	Addresses addressesCommand    `cmd:"" help:"Show which numbers and LIDs belong together, also while the instance is not connected."`
	Watch     watchCommand        `cmd:"" help:"Subscribe to somebody's presence: online, last seen, typing."`
	Unwatch   unwatchCommand      `cmd:"" help:"End a subscription to somebody's presence."`
	Watched   watchedCommand      `cmd:"" help:"List the subscriptions, with what each contact has shown last."`
	Picture   pictureCommand      `cmd:"" help:"Print the URL of a profile picture."`
	Block     blockCommand        `cmd:"" help:"Keep a contact from writing to the account."`
	Unblock   unblockCommand      `cmd:"" help:"Let a contact write to the account again."`
}

// contactFlags name the contact.
type contactFlags struct {
	InstanceFlag
	Contact string `arg:"" help:"Phone number with country code, chat ID or LID."`
}

type listContactsCommand struct {
	InstanceFlag
	Search string `help:"Only people with this in a name or their number." env:"-"`
}

// Run lists contacts.
func (c listContactsCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	contacts := on.Gateway.Contacts(ctx, on.ID, client.ListContactsParams{Search: c.Search})
	head := []string{"ID", "LID", "NAME", "USERNAME"}
	return terminal.List(t, contacts, head, func(one client.KnownContact) []string {
		return []string{one.ID, terminal.OrNone(one.LID), terminal.OrNone(one.Name), terminal.OrNone(one.Username)}
	})
}

type showContactCommand struct{ contactFlags }

// Run shows a contact.
func (c showContactCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	contact, err := on.Gateway.GetContact(ctx, on.ID, c.Contact)
	return printContact(t.Unless(err), contact)
}

// printContact prints a contact.
func printContact(t terminal.Terminal, contact client.ContactDetails) error {
	pairs := []terminal.Pair{
		{"id", contact.ID},
		{"lid", terminal.OrNone(contact.LID)},
		{"address book", terminal.OrNone(contact.AddressBookName)},
		{"goes by", terminal.OrNone(contact.PushName)},
		{"business", terminal.OrNone(contact.BusinessName)},
		{"username", terminal.OrNone(contact.Username)},
		{"about", contact.About},
	}
	if business := contact.Business; business != nil {
		pairs = append(pairs, terminal.Pair{"address", business.Address}, terminal.Pair{"email", business.Email})
	}
	return t.Fields(contact, pairs...)
}

type nameCommand struct {
	contactFlags
	Name string `arg:"" help:"What the owner of the account calls the person."`
}

// Run names a contact.
func (c nameCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	contact, err := on.Gateway.NameContact(ctx, on.ID, c.Contact, client.ContactName{Name: c.Name})
	return printContact(t.Unless(err), contact)
}

type addressesCommand struct {
	InstanceFlag
	Addresses []string `arg:"" help:"Phone numbers with country code, chat IDs or LIDs."`
}

// Run shows addresses.
func (c addressesCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	found, err := on.Gateway.FindAddresses(ctx, on.ID, client.FindAddresses{Addresses: c.Addresses})
	head := []string{"ADDRESS", "NUMBER", "LID"}
	return terminal.Rows(t.Unless(err), found.Results, head, func(one client.Address) []string {
		return []string{one.Address, terminal.OrNone(one.JID), terminal.OrNone(one.LID)}
	})
}

type watchCommand struct {
	contactFlags
	Hours int64 `help:"For how long, from now on; 720 at most." default:"168" env:"-"`
}

// Run subscribes to a contact's presence.
func (c watchCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	subscription, err := on.Gateway.SubscribePresence(ctx, on.ID, c.Contact, client.NewSubscription{Hours: c.Hours})
	return t.Unless(err).Done(map[string]any{"id": subscription.ID, "endsAt": subscription.EndsAt},
		"subscribed to the presence of %s until %s", subscription.ID, subscription.EndsAt.Format(time.RFC3339))
}

type unwatchCommand struct{ contactFlags }

// Run ends a subscription.
func (c unwatchCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	err := on.Gateway.UnsubscribePresence(ctx, on.ID, c.Contact)
	return t.Unless(err).Done(map[string]any{"contact": c.Contact},
		"no longer subscribed to the presence of %s", c.Contact)
}

type watchedCommand struct{ InstanceFlag }

// Run lists the subscriptions.
func (c watchedCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	head := []string{"CONTACT", "PRESENCE", "SINCE", "LAST SEEN", "UNTIL"}
	subscriptions := on.Gateway.PresenceSubscriptions(ctx, on.ID)
	return terminal.List(t, subscriptions, head, func(one client.PresenceSubscription) []string {
		return []string{
			one.ID, terminal.OrNone(one.Presence), terminal.MomentOrNever(one.ShownAt), terminal.MomentOrNever(one.LastSeen),
			terminal.Moment(one.EndsAt),
		}
	})
}

// personFlags name a contact by a number or a chat, and not by a LID.
type personFlags struct {
	InstanceFlag
	Contact string `arg:"" help:"Phone number with country code, or chat ID."`
}

type pictureCommand struct{ personFlags }

// Run prints the address of the picture.
func (c pictureCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	picture, err := on.Gateway.GetProfilePicture(ctx, on.ID, c.Contact)
	if err == nil && picture.URL == nil {
		err = errors.New("there is no picture, or the account may not see it")
	}
	return t.Unless(err).Print(picture, terminal.OrNone(picture.URL))
}

type blockCommand struct{ personFlags }

// Run blocks the contact.
func (c blockCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	return t.Did("blocked", "contact", c.Contact, on.Gateway.BlockContact(ctx, on.ID, c.Contact))
}

type unblockCommand struct{ personFlags }

// Run unblocks the contact.
func (c unblockCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	return t.Did("unblocked", "contact", c.Contact, on.Gateway.UnblockContact(ctx, on.ID, c.Contact))
}

// Presence shows a contact the presence of the account.
type Presence struct {
	InstanceFlag
	To       string `help:"Phone number with country code, or chat ID." required:"" env:"-"`
	Presence string `arg:"" help:"composing, recording, paused, available or unavailable." enum:"composing,recording,paused,available,unavailable"`
}

// Run sends the presence.
func (c Presence) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	err := on.Gateway.SendPresence(ctx, on.ID, client.Presence{To: c.To, Presence: c.Presence})
	return t.Unless(err).Done(map[string]any{"to": c.To, "presence": c.Presence}, "%s sees %s", c.To, c.Presence)
}
