// Webhooks of an instance and of the account.

package remote

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/terminal"
)

// Webhooks works on the webhooks of an instance.
type Webhooks struct {
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

// webhookFlag says which webhook a command works on.
type webhookFlag struct {
	InstanceFlag
	Webhook string `help:"Id of the webhook; without it, the one of webhook-config." env:"-"`
}

// webhook is a webhook of an instance that a command works on.
type webhook struct {
	Instance
	webhookID string
}

// ProvideWebhook finds the webhook. Kong calls it for a Run method that takes one.
func (f webhookFlag) ProvideWebhook(ctx context.Context, t terminal.Terminal) (webhook, error) {
	on, err := f.ProvideInstance(ctx, t)
	if err != nil || f.Webhook != "" {
		return webhook{on, f.Webhook}, err
	}
	first, err := on.Gateway.GetWebhookConfig(ctx, on.ID)
	return webhook{on, first.ID}, err
}

// did prints what was done to the webhook, unless it failed.
func (w webhook) did(t terminal.Terminal, what string, err error) error {
	return t.Unless(err).Done(map[string]any{"instanceId": w.ID, "done": what}, "%s the webhook of %s", what, w.ID)
}

// webhookOptions are what a webhook can be given apart from its address.
type webhookOptions struct {
	Secret     string   `help:"Secret that signs deliveries, ideally whsec_ and base64. Without it, the current one stays." env:"RECADO_WEBHOOK_SECRET"`
	Inactive   bool     `help:"Save the webhook but deliver nothing." env:"-"`
	Events     []string `help:"Types of events that are delivered, with commas in between; all for all." placeholder:"message.received,…" env:"-"`
	Chats      []string `help:"Kinds of chats whose events are delivered: direct, group, channel, status; all for all." placeholder:"direct,…" env:"-"`
	Header     []string `help:"A header that each request carries; may be repeated. They replace those that there are." placeholder:"\"NAME: VALUE\"" sep:"none" env:"-"`
	MediaLinks *bool    `help:"Whether events of messages with a file have a link to it." negatable:"" env:"-"`
	Format     string   `help:"Language in which events are posted: recado, or that of another tool." placeholder:"recado" env:"-"`
}

// everything is the word for no filter.
const everything = "all"

// listOf returns a list that was given, nil if it was not.
func listOf(given []string) []string {
	if len(given) == 1 && given[0] == everything {
		return []string{}
	}
	return given
}

// headers are those that each request carries; nil leaves them as they are.
type headers map[string]string

// ProvideHeaders reads the headers. Kong calls it for a Run method that takes them.
func (o webhookOptions) ProvideHeaders() (headers, error) {
	var all headers
	for _, line := range o.Header {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, errors.New("--header needs a name, a colon and a value") // and may hold a secret
		}
		if all == nil {
			all = headers{}
		}
		all[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return all, nil
}

// newWebhookFlags describe a webhook to add.
type newWebhookFlags struct {
	webhookOptions
	Endpoint string `arg:"" name:"webhook-url" help:"Absolute http or https URL that events are posted to."`
}

// webhook returns the webhook to add.
func (f newWebhookFlags) webhook(h headers) client.NewWebhook {
	return client.NewWebhook{
		URL: f.Endpoint, Secret: f.Secret, Headers: h, IsActive: new(!f.Inactive), MediaLinks: f.MediaLinks, Format: f.Format,
		Events: listOf(f.Events), Chats: listOf(f.Chats),
	}
}

// changeWebhookFlags say what to change in a webhook, apart from its address.
type changeWebhookFlags struct {
	webhookOptions
	Active bool `help:"Deliver events to a webhook that was inactive." env:"-" xor:"active"`
}

// change returns what to change. An empty endpoint leaves the address as it is.
func (f changeWebhookFlags) change(endpoint string, h headers) client.WebhookChange {
	change := client.WebhookChange{
		URL: Given(endpoint), Secret: Given(f.Secret), Headers: h, MediaLinks: f.MediaLinks, Format: Given(f.Format),
		Events: listOf(f.Events), Chats: listOf(f.Chats),
	}
	if f.Active || f.Inactive {
		change.IsActive = new(f.Active)
	}
	return change
}

// settingsOf are the settings of a webhook of an instance, which one of the account has as well.
func settingsOf(w client.Webhook) client.AccountWebhook {
	return client.AccountWebhook{
		ID: w.ID, URL: w.URL, Events: w.Events, Chats: w.Chats, HeaderNames: w.HeaderNames, MediaLinks: w.MediaLinks, Format: w.Format,
		IsActive: w.IsActive, CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt, Secret: w.Secret,
	}
}

// webhookPairs shows the settings of a webhook, and how its delivery stands if that is known.
func webhookPairs(w client.AccountWebhook, delivery string) []terminal.Pair {
	return []terminal.Pair{
		{"id", w.ID},
		{"url", w.URL},
		{"active", terminal.YesNo(w.IsActive)},
		{"signed", terminal.YesNo(w.Secret != "")},
		{"events", someOrAll(w.Events)},
		{"chats", someOrAll(w.Chats)},
		{"headers", strings.Join(w.HeaderNames, ", ")},
		{"links", terminal.YesNo(w.MediaLinks)},
		{"format", w.Format},
		{"delivery", delivery},
		{"created", terminal.Moment(w.CreatedAt)},
		{"updated", terminal.Moment(w.UpdatedAt)},
	}
}

func webhookHead() []string { return []string{"ID", "URL", "ACTIVE", "EVENTS", "CHATS"} }

func webhookRow(w client.AccountWebhook) []string {
	return []string{w.ID, w.URL, terminal.YesNo(w.IsActive), someOrAll(w.Events), someOrAll(w.Chats)}
}

// printWebhook prints a webhook of an instance, with the state of its delivery if that is not nil.
func printWebhook(t terminal.Terminal, shown client.Webhook, state *client.DeliveryState) error {
	var delivery string
	if state != nil {
		delivery = standing(*state, shown.InstanceID, shown.ID)
	}
	value := struct {
		client.Webhook

		Delivery *client.DeliveryState `json:"delivery,omitempty"`
	}{shown, state}
	return t.Fields(value, webhookPairs(settingsOf(shown), delivery)...)
}

func someOrAll(values []string) string {
	if len(values) == 0 {
		return everything
	}
	return strings.Join(values, ", ")
}

type listWebhooksCommand struct{ InstanceFlag }

// Run lists the webhooks.
func (c listWebhooksCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	return terminal.List(t, on.Gateway.Webhooks(ctx, on.ID), webhookHead(), func(one client.Webhook) []string {
		return webhookRow(settingsOf(one))
	})
}

type addCommand struct {
	InstanceFlag
	newWebhookFlags
}

// Run adds a webhook.
func (c addCommand) Run(ctx context.Context, t terminal.Terminal, h headers, on Instance) error {
	made, err := on.Gateway.CreateWebhook(ctx, on.ID, c.webhook(h))
	return printWebhook(t.Unless(err), made, nil)
}

type getCommand struct{ webhookFlag }

// Run shows the webhook.
func (c getCommand) Run(ctx context.Context, t terminal.Terminal, on webhook) error {
	page, err := on.Gateway.ListWebhookDeliveries(ctx, on.ID, on.webhookID, 1, 1) // for the state of the delivery
	if err != nil {
		return err
	}
	shown, err := on.Gateway.GetWebhook(ctx, on.ID, on.webhookID)
	return printWebhook(t.Unless(err), shown, &page.Delivery)
}

type setWebhookCommand struct {
	webhookFlag
	changeWebhookFlags
	Endpoint string `arg:"" optional:"" name:"webhook-url" help:"Absolute http or https URL that events are posted to. It may be left out if there is a webhook."`
}

// Run saves the webhook of webhook-config, or changes a webhook.
func (c setWebhookCommand) Run(ctx context.Context, t terminal.Terminal, h headers) error {
	if c.Webhook == "" && c.Endpoint != "" {
		return c.save(ctx, t, h)
	}
	on, err := c.ProvideWebhook(ctx, t)
	if err != nil {
		return err
	}
	changed, err := on.Gateway.ChangeWebhook(ctx, on.ID, on.webhookID, c.change(c.Endpoint, h))
	return printWebhook(t.Unless(err), changed, nil)
}

// save sets up the webhook of webhook-config.
func (c setWebhookCommand) save(ctx context.Context, t terminal.Terminal, h headers) error {
	on, err := c.ProvideInstance(ctx, t)
	if err != nil {
		return err
	}
	w := newWebhookFlags{c.webhookOptions, c.Endpoint}.webhook(h)
	saved, err := on.Gateway.SaveWebhookConfig(ctx, on.ID, client.NewWebhookConfig{
		WebhookURL: w.URL, Secret: w.Secret, Events: w.Events, Chats: w.Chats, Headers: w.Headers,
		MediaLinks: w.MediaLinks, Format: w.Format, IsActive: w.IsActive,
	})
	if err != nil {
		return err
	}
	shown, err := on.Gateway.GetWebhook(ctx, on.ID, saved.ID)
	return printWebhook(t.Unless(err), shown, nil)
}

type testCommand struct{ webhookFlag }

// Run tests the webhook. It fails if the endpoint did not accept the event.
func (c testCommand) Run(ctx context.Context, t terminal.Terminal, on webhook) error {
	test, err := on.Gateway.TestWebhook(ctx, on.ID, on.webhookID)
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
func (c resumeCommand) Run(ctx context.Context, t terminal.Terminal, on webhook) error {
	return on.did(t, "resumed", on.Gateway.ResumeWebhook(ctx, on.ID, on.webhookID))
}

type deleteWebhookCommand struct{ webhookFlag }

// Run deletes the webhook.
func (c deleteWebhookCommand) Run(ctx context.Context, t terminal.Terminal, on webhook) error {
	return on.did(t, "deleted", on.Gateway.DeleteWebhook(ctx, on.ID, on.webhookID))
}

type deliveriesCommand struct{ webhookFlag }

// Run lists the deliveries, and the state of the delivery.
func (c deliveriesCommand) Run(ctx context.Context, t terminal.Terminal, on webhook) error {
	lines := []client.Delivery{} // never null
	var state client.DeliveryState
	for number, isLast := 1, false; !isLast; number++ {
		page, err := on.Gateway.ListWebhookDeliveries(ctx, on.ID, on.webhookID, number, 0)
		if err != nil {
			return err
		}
		lines, state, isLast = append(lines, page.Data...), page.Delivery, page.IsLastPage
	}
	if t.JSON {
		return t.Print(map[string]any{"delivery": state, "deliveries": lines}, "")
	}
	t.Printf("delivery  %s\n", terminal.Cleaned(standing(state, on.ID, on.webhookID)))
	head := []string{"STATE", "SEQUENCE", "TYPE", "CHAT", "WHEN", "ANSWER"}
	return terminal.Rows(t, lines, head, func(line client.Delivery) []string {
		answer := terminal.OrNone(line.Status)
		if line.Error != nil {
			answer += " " + *line.Error
		}
		sequence, at := strconv.FormatInt(line.Sequence, 10), terminal.Moment(line.Timestamp)
		return []string{line.State, sequence, line.Type, line.Chat, at, answer}
	})
}

// WebhookState is a webhook of an instance, and how its delivery stands.
type WebhookState struct {
	InstanceID string               `json:"instanceId"`
	ID         string               `json:"id"`
	URL        string               `json:"url"`
	Delivery   client.DeliveryState `json:"delivery"`
}

// WebhookStates looks at all webhooks of an instance.
func WebhookStates(ctx context.Context, on Instance) ([]WebhookState, error) {
	states := []WebhookState{} // never null
	for one, err := range on.Gateway.Webhooks(ctx, on.ID) {
		if err != nil {
			return nil, err
		}
		page, err := on.Gateway.ListWebhookDeliveries(ctx, on.ID, one.ID, 1, 1) // for the state of the delivery
		if err != nil {
			return nil, err
		}
		states = append(states, WebhookState{on.ID, one.ID, one.URL, page.Delivery})
	}
	return states, nil
}

// late is how old an event may be that a webhook still has to deliver while all is well.
const late = time.Minute

// Behind reports whether somebody should look at the webhook: it delivers nothing for now, or too slowly.
func (s WebhookState) Behind(now time.Time) bool {
	switch s.Delivery.State {
	case client.StateWaiting, client.StateSuspended:
		return true
	case client.StateInactive:
		return false
	}
	return s.Delivery.OldestPendingAt != nil && now.Sub(*s.Delivery.OldestPendingAt) > late
}

// String is the host that the webhook delivers to, without what its URL may keep secret, and how that stands.
func (s WebhookState) String() string {
	host := s.URL
	if address, err := url.Parse(s.URL); err == nil {
		host = address.Host
	}
	return host + ": " + standing(s.Delivery, s.InstanceID, s.ID)
}

// standing describes the state of the delivery of a webhook, its reason, and what to do about it.
func standing(state client.DeliveryState, instanceID, webhookID string) string {
	which := " --instance " + instanceID + " --webhook " + webhookID
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
		line += "; try again: recado webhooks resume" + which
	case client.StateInactive:
		line += "; activate it: recado webhooks set --active" + which
	}
	return line
}

type replayCommand struct {
	webhookFlag
	From  int64     `help:"Sequence of the first event to deliver again." env:"-" xor:"from" required:""`
	Since time.Time `help:"Deliver again the events since this time, for example 2026-11-20T14:00:00Z." env:"-" xor:"from" required:""`
}

// Run replays events.
func (c replayCommand) Run(ctx context.Context, t terminal.Terminal, on webhook) error {
	replayed, err := on.Gateway.ReplayWebhook(ctx, on.ID, on.webhookID, client.Replay{
		FromSequence: c.From, Since: c.Since,
	})
	return t.Unless(err).Print(replayed,
		fmt.Sprintf("%d events, starting at %d, are delivered again", replayed.Events, replayed.FromSequence))
}

// AccountWebhooks works on the webhooks of the account.
type AccountWebhooks struct {
	List   listOfAccountCommand   `cmd:"" help:"List the webhooks of the account."`
	Add    addToAccountCommand    `cmd:"" help:"Add a webhook for all instances, those that come later too."`
	Set    setOfAccountCommand    `cmd:"" help:"Change a webhook of the account."`
	Delete deleteOfAccountCommand `cmd:"" aliases:"remove" help:"Remove a webhook of the account; events are still recorded."`
}

type listOfAccountCommand struct{ GatewayFlags }

// Run lists the webhooks.
func (c listOfAccountCommand) Run(ctx context.Context, t terminal.Terminal, gateway *client.Client) error {
	return terminal.List(t, gateway.AccountWebhooks(ctx), webhookHead(), webhookRow)
}

type addToAccountCommand struct {
	GatewayFlags
	newWebhookFlags
}

// Run adds a webhook.
func (c addToAccountCommand) Run(ctx context.Context, t terminal.Terminal, h headers, gateway *client.Client) error {
	made, err := gateway.CreateAccountWebhook(ctx, c.webhook(h))
	return t.Unless(err).Fields(made, webhookPairs(made, "")...)
}

type setOfAccountCommand struct {
	GatewayFlags
	changeWebhookFlags
	Webhook  string `arg:"" help:"Id of the webhook."`
	Endpoint string `arg:"" optional:"" name:"webhook-url" help:"Absolute http or https URL that events are posted to; without it, the current one stays."`
}

// Run changes a webhook.
func (c setOfAccountCommand) Run(ctx context.Context, t terminal.Terminal, h headers, gateway *client.Client) error {
	changed, err := gateway.ChangeAccountWebhook(ctx, c.Webhook, c.change(c.Endpoint, h))
	return t.Unless(err).Fields(changed, webhookPairs(changed, "")...)
}

type deleteOfAccountCommand struct {
	GatewayFlags
	Webhook string `arg:"" help:"Id of the webhook."`
}

// Run removes a webhook.
func (c deleteOfAccountCommand) Run(ctx context.Context, t terminal.Terminal, gateway *client.Client) error {
	err := gateway.DeleteAccountWebhook(ctx, c.Webhook)
	return t.Unless(err).Print(map[string]string{"deleted": c.Webhook}, "deleted the webhook "+c.Webhook)
}

// AppSecrets works on the app secret of the account.
type AppSecrets struct {
	Get    getAppSecretCommand    `cmd:"" help:"Say whether there is an app secret, and since when. It is shown nowhere."`
	Set    setAppSecretCommand    `cmd:"" help:"Set the app secret; it takes the place of the one before at once."`
	Delete deleteAppSecretCommand `cmd:"" aliases:"remove" help:"Remove the app secret: webhooks without a secret of their own are not signed any more."`
}

// printAppSecret prints whether there is an app secret.
func printAppSecret(t terminal.Terminal, shown client.AppSecret) error {
	return t.Fields(shown, terminal.Pair{"set", terminal.YesNo(shown.Set)}, terminal.Pair{"since", terminal.MomentOrNever(shown.Since)})
}

type getAppSecretCommand struct{ GatewayFlags }

// Run shows whether there is an app secret.
func (c getAppSecretCommand) Run(ctx context.Context, t terminal.Terminal, gateway *client.Client) error {
	shown, err := gateway.GetAppSecret(ctx)
	return printAppSecret(t.Unless(err), shown)
}

type setAppSecretCommand struct {
	GatewayFlags
	AppSecret string `help:"The secret. Use the variable to keep it out of the process list." required:""`
}

// Run sets the app secret.
func (c setAppSecretCommand) Run(ctx context.Context, t terminal.Terminal, gateway *client.Client) error {
	shown, err := gateway.SetAppSecret(ctx, client.NewAppSecret{AppSecret: c.AppSecret})
	return printAppSecret(t.Unless(err), shown)
}

type deleteAppSecretCommand struct{ GatewayFlags }

// Run removes the app secret.
func (c deleteAppSecretCommand) Run(ctx context.Context, t terminal.Terminal, gateway *client.Client) error {
	err := gateway.DeleteAppSecret(ctx)
	return t.Unless(err).Print(map[string]bool{"set": false}, "removed the app secret")
}
