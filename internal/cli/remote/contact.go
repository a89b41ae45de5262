// Contacts, and subscriptions to their presence.

package remote

import (
	"context"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/target"
	"github.com/recado-project/recado/internal/cli/terminal"
)

// Contacts are the commands about contacts.
type Contacts struct {
	List      listContactsCommand `cmd:"" help:"List the people whom the account knows by name, also while the instance is not connected."`
	Show      showContactCommand  `cmd:"" help:"Show what is known of somebody."`
	Name      nameCommand         `cmd:"" help:"Write somebody's name into the address book of the account."`
	Addresses addressesCommand    `cmd:"" help:"Show which numbers and LIDs belong together, also while the instance is not connected."`
	Watch     watchCommand        `cmd:"" help:"Subscribe to somebody's presence: online, last seen, typing."`
	Unwatch   unwatchCommand      `cmd:"" help:"End a subscription to somebody's presence."`
	Watched   watchedCommand      `cmd:"" help:"List the subscriptions, with what each contact has shown last."`
}

type listContactsCommand struct {
	target.InstanceFlag
	Search string `help:"Only people with this in a name or their number." env:"-"`
}

// Run lists contacts.
func (c listContactsCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	contacts := []client.KnownContact{} // never null
	var rows [][]string
	for contact, err := range gateway.Contacts(ctx, id, client.ListContactsParams{Search: c.Search}) {
		if err != nil {
			return err
		}
		contacts = append(contacts, contact)
		rows = append(rows, []string{contact.ID, terminal.OrNone(contact.LID), terminal.OrNone(contact.Name), terminal.OrNone(contact.Username)})
	}
	return t.Table(contacts, []string{"ID", "LID", "NAME", "USERNAME"}, rows)
}

type showContactCommand struct {
	target.InstanceFlag
	Contact string `arg:"" help:"Phone number with country code, chat ID or LID."`
}

// Run shows a contact.
func (c showContactCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	contact, err := gateway.GetContact(ctx, id, c.Contact)
	if err != nil {
		return err
	}
	return showContact(t, contact)
}

func showContact(t terminal.Terminal, contact client.ContactDetails) error {
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
	target.InstanceFlag
	Contact string `arg:"" help:"Phone number with country code, chat ID or LID."`
	Name    string `arg:"" help:"What the owner of the account calls the person."`
}

// Run names a contact.
func (c nameCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	contact, err := gateway.NameContact(ctx, id, c.Contact, client.ContactName{Name: c.Name})
	if err != nil {
		return err
	}
	return showContact(t, contact)
}

type addressesCommand struct {
	target.InstanceFlag
	Addresses []string `arg:"" help:"Phone numbers with country code, chat IDs or LIDs."`
}

// Run shows addresses.
func (c addressesCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	addresses, err := gateway.FindAddresses(ctx, id, client.FindAddresses{Addresses: c.Addresses})
	if err != nil {
		return err
	}
	rows := make([][]string, 0, len(addresses.Results))
	for _, address := range addresses.Results {
		rows = append(rows, []string{address.Address, terminal.OrNone(address.JID), terminal.OrNone(address.LID)})
	}
	return t.Table(addresses.Results, []string{"ADDRESS", "NUMBER", "LID"}, rows)
}

type watchCommand struct {
	target.InstanceFlag
	Contact string `arg:"" help:"Phone number with country code, chat ID or LID."`
	Hours   int64  `help:"For how long, from now on; 720 at most." default:"168" env:"-"`
}

// Run subscribes to a contact's presence.
func (c watchCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	kept, err := gateway.SubscribePresence(ctx, id, c.Contact, client.NewSubscription{Hours: c.Hours})
	if err != nil {
		return err
	}
	return t.Done(map[string]any{"id": kept.ID, "endsAt": kept.EndsAt}, "subscribed to the presence of %s until %s", kept.ID, kept.EndsAt.Format(time.RFC3339))
}

type unwatchCommand struct {
	target.InstanceFlag
	Contact string `arg:"" help:"Phone number with country code, chat ID or LID."`
}

// Run ends a subscription.
func (c unwatchCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	if err := gateway.UnsubscribePresence(ctx, id, c.Contact); err != nil {
		return err
	}
	return t.Done(map[string]any{"contact": c.Contact}, "no longer subscribed to the presence of %s", c.Contact)
}

type watchedCommand struct {
	target.InstanceFlag
}

// Run lists the subscriptions.
func (c watchedCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	all := []client.PresenceSubscription{} // never null
	var rows [][]string
	for one, err := range gateway.PresenceSubscriptions(ctx, id) {
		if err != nil {
			return err
		}
		all = append(all, one)
		rows = append(rows, []string{one.ID, terminal.OrNone(one.Presence), moment(one.ShownAt), moment(one.LastSeen), terminal.Moment(one.EndsAt)})
	}
	return t.Table(all, []string{"CONTACT", "PRESENCE", "SINCE", "LAST SEEN", "UNTIL"}, rows)
}

func moment(at *time.Time) string {
	if at == nil {
		return terminal.Moment(time.Time{})
	}
	return terminal.Moment(*at)
}
