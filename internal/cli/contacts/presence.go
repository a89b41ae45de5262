// The commands about the presence of contacts.

package contacts

import (
	"context"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/target"
	"github.com/recado-project/recado/internal/cli/terminal"
)

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
