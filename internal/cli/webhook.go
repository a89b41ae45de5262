package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/terminal"
)

// webhookCommand works on the webhook of an instance.
type webhookCommand struct {
	Get        getWebhookCommand    `cmd:"" help:"Show the webhook."`
	Set        setWebhookCommand    `cmd:"" help:"Set or change the address that events are delivered to."`
	Test       testWebhookCommand   `cmd:"" help:"Deliver a test event now and show the answer."`
	Resume     resumeWebhookCommand `cmd:"" help:"Try again at once a webhook that waits or is suspended."`
	Delete     deleteWebhookCommand `cmd:"" help:"Remove the webhook; events are still recorded."`
	Deliveries deliveriesCommand    `cmd:"" help:"Show the deliveries of events."`
	Replay     replayCommand        `cmd:"" help:"Deliver past events again."`
}

// shownWebhook is a webhook as JSON.
type shownWebhook struct {
	client.Webhook

	Delivery *client.DeliveryState `json:"delivery,omitempty"` // nil if it was not asked for
}

// printWebhook prints a webhook, and how its delivery stands unless state is nil.
func printWebhook(t terminal.Terminal, webhook client.Webhook, state *client.DeliveryState) error {
	var delivery string
	if state != nil {
		delivery = standing(*state)
	}
	return t.Fields(
		shownWebhook{webhook, state},
		terminal.Pair{"url", webhook.WebhookURL}, terminal.Pair{"active", terminal.YesNo(webhook.IsActive)}, terminal.Pair{"signed", terminal.YesNo(webhook.Secret != "")},
		terminal.Pair{"delivery", delivery},
		terminal.Pair{"created", terminal.Moment(webhook.CreatedAt)}, terminal.Pair{"updated", terminal.Moment(webhook.UpdatedAt)},
	)
}

type getWebhookCommand struct{ instanceFlag }

// Run shows the webhook.
func (c getWebhookCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.open(ctx, t)
	if err != nil {
		return err
	}
	webhook, err := gateway.Webhook(ctx, id)
	if err != nil {
		return err
	}
	page, err := gateway.ListDeliveries(ctx, id, 1, 1) // for the state of the delivery
	if err != nil {
		return err
	}
	return printWebhook(t, webhook, page.Delivery)
}

type setWebhookCommand struct {
	instanceFlag
	Endpoint string `arg:"" name:"webhook-url" help:"Absolute http or https URL that events are posted to."`
	Secret   string `help:"Secret that signs deliveries, ideally whsec_ and base64. Without it, the current one stays." env:"RECADO_WEBHOOK_SECRET"`
	Inactive bool   `help:"Save the webhook but deliver nothing." env:"-"`
}

// Run saves the webhook.
func (c setWebhookCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.open(ctx, t)
	if err != nil {
		return err
	}
	webhook, err := gateway.SaveWebhook(ctx, id, client.WebhookConfig{
		WebhookURL: c.Endpoint, Secret: c.Secret, IsActive: new(!c.Inactive),
	})
	if err != nil {
		return err
	}
	return printWebhook(t, webhook, nil)
}

type testWebhookCommand struct{ instanceFlag }

// Run tests the webhook. It fails if the endpoint did not accept the event.
func (c testWebhookCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.open(ctx, t)
	if err != nil {
		return err
	}
	test, err := gateway.TestWebhook(ctx, id)
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

type resumeWebhookCommand struct{ instanceFlag }

// Run resumes the webhook.
func (c resumeWebhookCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.open(ctx, t)
	if err == nil {
		err = gateway.ResumeWebhook(ctx, id)
	}
	if err != nil {
		return err
	}
	return t.Done(map[string]any{"instanceId": id, "done": "resumed"}, "resumed the webhook of %s", id)
}

type deleteWebhookCommand struct{ instanceFlag }

// Run deletes the webhook.
func (c deleteWebhookCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.open(ctx, t)
	if err == nil {
		err = gateway.DeleteWebhook(ctx, id)
	}
	if err != nil {
		return err
	}
	return t.Done(map[string]any{"instanceId": id, "done": "deleted"}, "deleted the webhook of %s", id)
}

type deliveriesCommand struct{ instanceFlag }

// Run lists the deliveries, and the state of the delivery.
func (c deliveriesCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.open(ctx, t)
	if err != nil {
		return err
	}
	lines := []client.Delivery{} // never null
	var rows [][]string
	var state *client.DeliveryState
	for number := 1; ; number++ {
		page, err := gateway.ListDeliveries(ctx, id, number, 0)
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
	if state != nil {
		t.Printf("delivery  %s\n", terminal.Cleaned(standing(*state)))
	}
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
	case client.WebhookSuspended, client.WebhookWaiting:
		line += "; try again with recado webhook resume"
	case client.WebhookInactive:
		line += "; activate it with recado webhook set"
	}
	return line
}

type replayCommand struct {
	instanceFlag
	From  int64     `help:"Sequence of the first event to deliver again." env:"-" xor:"from" required:""`
	Since time.Time `help:"Deliver again the events since this time, for example 2026-11-20T14:00:00Z." env:"-" xor:"from" required:""`
}

// Run replays events.
func (c replayCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.open(ctx, t)
	if err != nil {
		return err
	}
	replayed, err := gateway.ReplayEvents(ctx, id, client.Replay{FromSequence: c.From, Since: c.Since})
	if err != nil {
		return err
	}
	return t.Print(replayed, fmt.Sprintf("%d events, starting at %d, are delivered again", replayed.Events, replayed.FromSequence))
}
