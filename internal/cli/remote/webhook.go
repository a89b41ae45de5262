// Webhooks of an instance and of the account.

package remote

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/target"
	"github.com/recado-project/recado/internal/cli/terminal"
)

// Webhook works on the webhooks of an instance.
type Webhook struct {
	List       listWebhooksCommand  `cmd:"" help:"List the webhooks."`
	Add        addCommand           `cmd:"" help:"Add one more webhook."`
	Get        getCommand           `cmd:"" help:"Show a webhook."`
	Set        setWebhookCommand    `cmd:"" help:"Set up the webhook of webhook-config, or change a webhook."`
	Test       testCommand          `cmd:"" help:"Deliver a test event now and show the answer."`
	Resume     resumeCommand        `cmd:"" help:"Try again at once a webhook that waits or is suspended."`
	Delete     deleteWebhookCommand `cmd:"" aliases:"remove" help:"Remove a webhook; events are still recorded."`
	Deliveries deliveriesCommand    `cmd:"" help:"Show the deliveries of events."`
	Replay     replayCommand        `cmd:"" help:"Deliver past events again."`
}

// flag says which webhook a command works on.
type webhookFlag struct {
	target.InstanceFlag
	Webhook string `help:"Id of the webhook; without it, the one of webhook-config." env:"-"`
}

// open opens a client, and finds the instance and the webhook that the flags name.
func (f webhookFlag) open(ctx context.Context, t terminal.Terminal) (gateway *client.Client, instanceID, webhookID string, err error) {
	if gateway, instanceID, err = f.Open(ctx, t); err != nil || f.Webhook != "" {
		return gateway, instanceID, f.Webhook, err
	}
	first, err := gateway.GetWebhookConfig(ctx, instanceID)
	return gateway, instanceID, first.ID, err
}

// options are what a webhook can be given beside its address.
type webhookOptions struct {
	Secret     string   `help:"Secret that signs deliveries, ideally whsec_ and base64. Without it, the current one stays." env:"RECADO_WEBHOOK_SECRET"`
	Inactive   bool     `help:"Save the webhook but deliver nothing." env:"-"`
	Events     []string `help:"Types of events that are delivered, with commas in between; all for all." placeholder:"message.received,…" env:"-"`
	Chats      []string `help:"Kinds of chats whose events are delivered: direct, group, channel, status; all for all." placeholder:"direct,…" env:"-"`
	Header     []string `help:"A header that each request carries; may be repeated. They replace those that there are." placeholder:"\"NAME: VALUE\"" sep:"none" env:"-"`
	MediaLinks *bool    `help:"Whether events of messages with a file have a link to it." negatable:"" env:"-"`
}

// every is the word for no filter.
const every = "all"

// listOf returns a list that was given, nil if it was not.
func listOf(given []string) []string {
	if len(given) == 1 && given[0] == every {
		return []string{}
	}
	return given
}

// headers reads the headers; nil if there are none.
func (o webhookOptions) headers() (map[string]string, error) {
	if len(o.Header) == 0 {
		return nil, nil //nolint:nilnil // there are none
	}
	headers := make(map[string]string, len(o.Header))
	for _, line := range o.Header {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, errors.New("--header needs a name, a colon and a value") // and may hold a secret
		}
		headers[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return headers, nil
}

// made returns a webhook to be made.
func (o webhookOptions) made(endpoint string) (client.NewWebhook, error) {
	headers, err := o.headers()
	webhook := client.NewWebhook{
		URL: endpoint, Secret: o.Secret, Headers: headers, IsActive: new(!o.Inactive), MediaLinks: o.MediaLinks,
		Events: listOf(o.Events), Chats: listOf(o.Chats),
	}
	return webhook, err
}

// change returns what is to be changed. active is the flag that is not among the options.
func (o webhookOptions) change(active bool) (client.WebhookChange, error) {
	headers, err := o.headers()
	change := client.WebhookChange{Secret: target.Given(o.Secret), Events: listOf(o.Events), Chats: listOf(o.Chats), Headers: headers, MediaLinks: o.MediaLinks}
	if active || o.Inactive {
		change.IsActive = new(active)
	}
	return change, err
}

// printOne prints one of the webhooks.
func printOne(t terminal.Terminal, webhook client.Webhook, state *client.DeliveryState) error {
	var delivery string
	if state != nil {
		delivery = standing(*state)
	}
	return t.Fields(
		struct {
			client.Webhook

			Delivery *client.DeliveryState `json:"delivery,omitempty"`
		}{webhook, state},
		terminal.Pair{"id", webhook.ID}, terminal.Pair{"url", webhook.URL}, terminal.Pair{"active", terminal.YesNo(webhook.IsActive)},
		terminal.Pair{"signed", terminal.YesNo(webhook.Secret != "")},
		terminal.Pair{"events", someOrAll(webhook.Events)}, terminal.Pair{"chats", someOrAll(webhook.Chats)},
		terminal.Pair{"headers", strings.Join(webhook.HeaderNames, ", ")}, terminal.Pair{"links", terminal.YesNo(webhook.MediaLinks)},
		terminal.Pair{"delivery", delivery},
		terminal.Pair{"created", terminal.Moment(webhook.CreatedAt)}, terminal.Pair{"updated", terminal.Moment(webhook.UpdatedAt)},
	)
}

func someOrAll(values []string) string {
	if len(values) == 0 {
		return every
	}
	return strings.Join(values, ", ")
}

type listWebhooksCommand struct{ target.InstanceFlag }

// Run lists the webhooks.
func (c listWebhooksCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	webhooks := []client.Webhook{} // never null
	var rows [][]string
	for webhook, err := range gateway.Webhooks(ctx, id) {
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

type addCommand struct {
	target.InstanceFlag
	webhookOptions
	Endpoint string `arg:"" name:"webhook-url" help:"Absolute http or https URL that events are posted to."`
}

// Run adds a webhook.
func (c addCommand) Run(ctx context.Context, t terminal.Terminal) error {
	webhook, err := c.made(c.Endpoint)
	if err != nil {
		return err
	}
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	made, err := gateway.CreateWebhook(ctx, id, webhook)
	if err != nil {
		return err
	}
	return printOne(t, made, nil)
}

type getCommand struct{ webhookFlag }

// Run shows the webhook.
func (c getCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, which, err := c.open(ctx, t)
	if err != nil {
		return err
	}
	page, err := gateway.ListWebhookDeliveries(ctx, id, which, 1, 1) // for the state of the delivery
	if err != nil {
		return err
	}
	webhook, err := gateway.GetWebhook(ctx, id, which)
	if err != nil {
		return err
	}
	return printOne(t, webhook, &page.Delivery)
}

type setWebhookCommand struct {
	webhookFlag
	webhookOptions
	Active   bool   `help:"Deliver events to a webhook that was inactive." env:"-" xor:"active"`
	Endpoint string `arg:"" optional:"" name:"webhook-url" help:"Absolute http or https URL that events are posted to. It may be left out if there is a webhook."`
}

// Run saves the webhook of webhook-config, or changes a webhook.
func (c setWebhookCommand) Run(ctx context.Context, t terminal.Terminal) error {
	change, err := c.change(c.Active)
	if err != nil {
		return err
	}
	change.URL = target.Given(c.Endpoint)
	if c.Webhook == "" && c.Endpoint != "" {
		return c.save(ctx, t, change)
	}
	gateway, id, which, err := c.open(ctx, t)
	if err != nil {
		return err
	}
	changed, err := gateway.ChangeWebhook(ctx, id, which, change)
	if err != nil {
		return err
	}
	return printOne(t, changed, nil)
}

// save sets up the webhook of webhook-config.
func (c setWebhookCommand) save(ctx context.Context, t terminal.Terminal, settings client.WebhookChange) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	saved, err := gateway.SaveWebhookConfig(ctx, id, client.NewWebhookConfig{
		WebhookURL: c.Endpoint, Secret: c.Secret, Events: settings.Events, Chats: settings.Chats, Headers: settings.Headers,
		MediaLinks: settings.MediaLinks, IsActive: new(!c.Inactive),
	})
	if err != nil {
		return err
	}
	webhook, err := gateway.GetWebhook(ctx, id, saved.ID)
	if err != nil {
		return err
	}
	return printOne(t, webhook, nil)
}

type testCommand struct{ webhookFlag }

// Run tests the webhook. It fails if the endpoint did not accept the event.
func (c testCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, which, err := c.open(ctx, t)
	if err != nil {
		return err
	}
	test, err := gateway.TestWebhook(ctx, id, which)
	if err != nil {
		return err
	}
	took := (time.Duration(test.DurationMs) * time.Millisecond).String()
	if test.Status == nil {
		took = "" // there was no answer
	}
	// The reason of a failure is printed below.
	err = t.Fields(test, terminal.Pair{"status", terminal.OrNone(test.Status)}, terminal.Pair{"took", took}, terminal.Pair{"answer", test.Body})
	if test.Error != nil {
		err = errors.Join(err, errors.New("the endpoint did not accept the test event: "+*test.Error))
	}
	return err
}

type resumeCommand struct{ webhookFlag }

// Run resumes the webhook.
func (c resumeCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, which, err := c.open(ctx, t)
	if err == nil {
		err = gateway.ResumeWebhook(ctx, id, which)
	}
	if err != nil {
		return err
	}
	return t.Done(map[string]any{"instanceId": id, "done": "resumed"}, "resumed the webhook of %s", id)
}

type deleteWebhookCommand struct{ webhookFlag }

// Run deletes the webhook.
func (c deleteWebhookCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, which, err := c.open(ctx, t)
	if err == nil {
		err = gateway.DeleteWebhook(ctx, id, which)
	}
	if err != nil {
		return err
	}
	return t.Done(map[string]any{"instanceId": id, "done": "deleted"}, "deleted the webhook of %s", id)
}

type deliveriesCommand struct{ webhookFlag }

// Run lists the deliveries, and the state of the delivery.
func (c deliveriesCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, which, err := c.open(ctx, t)
	if err != nil {
		return err
	}
	lines := []client.Delivery{} // never null
	var rows [][]string
	var state client.DeliveryState
	for number := 1; ; number++ {
		page, err := gateway.ListWebhookDeliveries(ctx, id, which, number, 0)
		if err != nil {
			return err
		}
		state = page.Delivery
		for _, line := range page.Data {
			lines = append(lines, line)
			answer := terminal.OrNone(line.Status)
			if line.Error != nil {
				answer += " " + *line.Error
			}
			rows = append(rows, []string{
				line.State, strconv.FormatInt(line.Sequence, 10), line.Type, line.Chat, terminal.Moment(line.Timestamp), answer,
			})
		}
		if page.IsLastPage {
			break
		}
	}
	if t.JSON {
		return t.Print(map[string]any{"delivery": state, "deliveries": lines}, "")
	}
	t.Printf("delivery  %s\n", terminal.Cleaned(standing(state)))
	return t.Table(lines, []string{"STATE", "SEQUENCE", "TYPE", "CHAT", "WHEN", "ANSWER"}, rows)
}

// standing describes the state of the delivery, its reason, and what to do about it.
func standing(state client.DeliveryState) string {
	line := state.State
	if state.Since != nil {
		line += " since " + terminal.Moment(*state.Since)
	}
	if state.Until != nil {
		line += " until " + terminal.Moment(*state.Until)
	}
	switch why := terminal.OrNone(state.Reason); why {
	case "":
	case "gone":
		line += ": the endpoint answered 410 Gone"
	case "unreachable":
		line += ": nothing was delivered for too long"
	default:
		line += ": " + why
	}
	switch state.PendingEvents {
	case 0:
	case 1:
		line += "; 1 event waits"
	default:
		line += fmt.Sprintf("; %d events wait", state.PendingEvents)
	}
	switch state.State {
	case client.StateSuspended, client.StateWaiting:
		line += "; try again with recado webhook resume"
	case client.StateInactive:
		line += "; activate it with recado webhook set"
	}
	return line
}

type replayCommand struct {
	webhookFlag
	From  int64     `help:"Sequence of the first event to deliver again." env:"-" xor:"from" required:""`
	Since time.Time `help:"Deliver again the events since this time, for example 2026-11-20T14:00:00Z." env:"-" xor:"from" required:""`
}

// Run replays events.
func (c replayCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, which, err := c.open(ctx, t)
	if err != nil {
		return err
	}
	replayed, err := gateway.ReplayWebhook(ctx, id, which, client.Replay{FromSequence: c.From, Since: c.Since})
	if err != nil {
		return err
	}
	return t.Print(replayed, fmt.Sprintf("%d events, starting at %d, are delivered again", replayed.Events, replayed.FromSequence))
}

// AccountWebhook works on the webhooks of the account.
type AccountWebhook struct {
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
	webhookOptions
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
	webhookOptions
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
