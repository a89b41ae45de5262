// The webhooks that hear all instances of an account.

package webhooks

import (
	"context"
	"strings"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/target"
	"github.com/recado-project/recado/internal/cli/terminal"
)

// OfAccount works on the webhooks of the account.
type OfAccount struct {
	List   listOfAccountCommand   `cmd:"" help:"List the webhooks of the account."`
	Add    addToAccountCommand    `cmd:"" help:"Add a webhook for all instances, those that come later too."`
	Set    setOfAccountCommand    `cmd:"" help:"Change a webhook of the account."`
	Delete deleteOfAccountCommand `cmd:"" aliases:"remove" help:"Remove a webhook of the account; events are still recorded."`
}

func printAccountWebhook(t terminal.Terminal, webhook client.AccountWebhook) error {
	return t.Fields(
		webhook,
		terminal.Pair{"id", webhook.ID}, terminal.Pair{"url", webhook.URL}, terminal.Pair{"active", terminal.YesNo(webhook.IsActive)},
		terminal.Pair{"signed", terminal.YesNo(webhook.Secret != "")},
		terminal.Pair{"events", someOrAll(webhook.Events)}, terminal.Pair{"chats", someOrAll(webhook.Chats)},
		terminal.Pair{"headers", strings.Join(webhook.HeaderNames, ", ")}, terminal.Pair{"links", terminal.YesNo(webhook.MediaLinks)},
		terminal.Pair{"created", terminal.Moment(webhook.CreatedAt)}, terminal.Pair{"updated", terminal.Moment(webhook.UpdatedAt)},
	)
}

type listOfAccountCommand struct{ target.GatewayFlags }

// Run lists the webhooks.
func (c listOfAccountCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, err := c.Connect(t)
	if err != nil {
		return err
	}
	webhooks := []client.AccountWebhook{} // never null
	var rows [][]string
	for webhook, err := range gateway.AccountWebhooks(ctx) {
		if err != nil {
			return err
		}
		webhooks = append(webhooks, webhook)
		rows = append(rows, []string{
			webhook.ID, webhook.URL, terminal.YesNo(webhook.IsActive), someOrAll(webhook.Events), someOrAll(webhook.Chats),
		})
	}
	return t.Table(webhooks, []string{"ID", "URL", "ACTIVE", "EVENTS", "CHATS"}, rows)
}

type addToAccountCommand struct {
	target.GatewayFlags
	options
	Endpoint string `arg:"" name:"webhook-url" help:"Absolute http or https URL that events are posted to."`
}

// Run adds a webhook.
func (c addToAccountCommand) Run(ctx context.Context, t terminal.Terminal) error {
	webhook, err := c.made(c.Endpoint)
	if err != nil {
		return err
	}
	gateway, err := c.Connect(t)
	if err != nil {
		return err
	}
	made, err := gateway.CreateAccountWebhook(ctx, webhook)
	if err != nil {
		return err
	}
	return printAccountWebhook(t, made)
}

type setOfAccountCommand struct {
	target.GatewayFlags
	options
	Active   bool   `help:"Deliver events to a webhook that was inactive." env:"-" xor:"active"`
	Webhook  string `arg:"" help:"Id of the webhook."`
	Endpoint string `arg:"" optional:"" name:"webhook-url" help:"Absolute http or https URL that events are posted to; without it, the current one stays."`
}

// Run changes a webhook.
func (c setOfAccountCommand) Run(ctx context.Context, t terminal.Terminal) error {
	change, err := c.change(c.Active)
	if err != nil {
		return err
	}
	change.URL = target.Given(c.Endpoint)
	gateway, err := c.Connect(t)
	if err != nil {
		return err
	}
	changed, err := gateway.ChangeAccountWebhook(ctx, c.Webhook, change)
	if err != nil {
		return err
	}
	return printAccountWebhook(t, changed)
}

type deleteOfAccountCommand struct {
	target.GatewayFlags
	Webhook string `arg:"" help:"Id of the webhook."`
}

// Run removes a webhook.
func (c deleteOfAccountCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, err := c.Connect(t)
	if err != nil {
		return err
	}
	if err := gateway.DeleteAccountWebhook(ctx, c.Webhook); err != nil {
		return err
	}
	return t.Print(map[string]string{"deleted": c.Webhook}, "deleted the webhook "+c.Webhook)
}
