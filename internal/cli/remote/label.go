// Package remote has the commands that call a gateway about one noun each: labels, groups, channels,
// webhooks and so on. A command is a struct with its flags; it calls the client, and prints through the
// terminal that it is given.
package remote

import (
	"context"
	"errors"
	"strconv"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/target"
	"github.com/recado-project/recado/internal/cli/terminal"
)

// Labels are the commands about labels.
type Labels struct {
	List   listLabelsCommand  `cmd:"" help:"List the labels of the account."`
	Create createLabelCommand `cmd:"" help:"Make a label."`
	Set    setLabelCommand    `cmd:"" help:"Change the name or the colour of a label."`
	Delete deleteLabelCommand `cmd:"" help:"Delete a label."`
	Put    putCommand         `cmd:"" help:"Put a label on a chat or a message."`
	Take   takeCommand        `cmd:"" help:"Take a label from a chat or a message."`
}

type listLabelsCommand struct{ target.InstanceFlag }

// Run lists labels.
func (c listLabelsCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	all := []client.Label{} // never null
	for label, err := range gateway.Labels(ctx, id) {
		if err != nil {
			return err
		}
		all = append(all, label)
	}
	return labelTable(t, all, all...)
}

func labelTable(t terminal.Terminal, value any, labels ...client.Label) error {
	rows := make([][]string, len(labels))
	for n, label := range labels {
		rows[n] = []string{label.LabelID, label.Name, strconv.FormatInt(label.Color, 10)}
	}
	return t.Table(value, []string{"ID", "NAME", "COLOUR"}, rows)
}

type createLabelCommand struct {
	target.InstanceFlag
	Name  string `arg:"" help:"The name."`
	Color int64  `help:"The number of a colour of the messenger's clients, 0 to 19." env:"-"`
}

// Run makes a label.
func (c createLabelCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	label, err := gateway.CreateLabel(ctx, id, client.NewLabel{Name: c.Name, Color: c.Color})
	if err != nil {
		return err
	}
	return labelTable(t, label, label)
}

type setLabelCommand struct {
	target.InstanceFlag
	Label string  `arg:"" help:"The ID of the label."`
	Name  *string `help:"The name." env:"-"`
	Color *int64  `help:"The number of a colour of the messenger's clients, 0 to 19." env:"-"`
}

// Run changes a label.
func (c setLabelCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	label, err := gateway.ChangeLabel(ctx, id, c.Label, client.LabelChange{Name: c.Name, Color: c.Color})
	if err != nil {
		return err
	}
	return labelTable(t, label, label)
}

type deleteLabelCommand struct {
	target.InstanceFlag
	Label string `arg:"" help:"The ID of the label."`
}

// Run deletes a label.
func (c deleteLabelCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	if err := gateway.DeleteLabel(ctx, id, c.Label); err != nil {
		return err
	}
	return t.Done(map[string]any{"label": c.Label, "done": "deleted"}, "deleted %s", c.Label)
}

// place is what a label is put on or taken from.
type labelTarget struct {
	target.InstanceFlag
	Label   string `arg:"" help:"The ID of the label."`
	Chat    string `help:"A phone number with country code, or a chat ID." env:"-" xor:"place" required:""`
	Message string `help:"The identifier of a message." env:"-" xor:"place" required:""`
}

func (p labelTarget) assign(ctx context.Context, t terminal.Terminal, on bool, done string) error {
	gateway, id, err := p.Open(ctx, t)
	if err != nil {
		return err
	}
	switch {
	case p.Chat != "" && on:
		err = gateway.LabelChat(ctx, id, p.Chat, p.Label)
	case p.Chat != "":
		err = gateway.UnlabelChat(ctx, id, p.Chat, p.Label)
	case p.Message != "" && on:
		err = gateway.LabelMessage(ctx, id, p.Message, p.Label)
	case p.Message != "":
		err = gateway.UnlabelMessage(ctx, id, p.Message, p.Label)
	default:
		err = errors.New("--chat and --message are empty")
	}
	if err != nil {
		return err
	}
	return t.Done(map[string]any{"label": p.Label, "done": done}, "%s %s", done, p.Label)
}

type putCommand struct{ labelTarget }

// Run puts a label on something.
func (c putCommand) Run(ctx context.Context, t terminal.Terminal) error {
	return c.assign(ctx, t, true, "put")
}

type takeCommand struct{ labelTarget }

// Run takes a label from something.
func (c takeCommand) Run(ctx context.Context, t terminal.Terminal) error {
	return c.assign(ctx, t, false, "taken")
}
