// Labels.

package remote

import (
	"context"
	"errors"
	"strconv"

	"github.com/recado-project/recado/client"
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

type listLabelsCommand struct{ InstanceFlag }

// Run lists labels.
func (c listLabelsCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	return terminal.List(t, on.Gateway.Labels(ctx, on.ID), labelHead(), labelRow)
}

func labelHead() []string { return []string{"ID", "NAME", "COLOUR"} }

func labelRow(label client.Label) []string {
	return []string{label.LabelID, label.Name, strconv.FormatInt(label.Color, 10)}
}

// printLabel prints one label.
func printLabel(t terminal.Terminal, label client.Label) error {
	return t.Table(label, labelHead(), [][]string{labelRow(label)})
}

type createLabelCommand struct {
	InstanceFlag
	Name  string `arg:"" help:"The name."`
	Color int64  `help:"The number of a colour of the messenger's clients, 0 to 19." env:"-"`
}

// Run makes a label.
func (c createLabelCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	label, err := on.Gateway.CreateLabel(ctx, on.ID, client.NewLabel{Name: c.Name, Color: c.Color})
	return printLabel(t.Unless(err), label)
}

type setLabelCommand struct {
	InstanceFlag
	Label string  `arg:"" help:"The ID of the label."`
	Name  *string `help:"The name." env:"-"`
	Color *int64  `help:"The number of a colour of the messenger's clients, 0 to 19." env:"-"`
}

// Run changes a label.
func (c setLabelCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	label, err := on.Gateway.ChangeLabel(ctx, on.ID, c.Label, client.LabelChange{Name: c.Name, Color: c.Color})
	return printLabel(t.Unless(err), label)
}

type deleteLabelCommand struct {
	InstanceFlag
	Label string `arg:"" help:"The ID of the label."`
}

// Run deletes a label.
func (c deleteLabelCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	return t.Did("deleted", "label", c.Label, on.Gateway.DeleteLabel(ctx, on.ID, c.Label))
}

// labelFlags name a label, and what it is put on or taken from.
type labelFlags struct {
	InstanceFlag
	Label   string `arg:"" help:"The ID of the label."`
	Chat    string `help:"A phone number with country code, or a chat ID." env:"-" xor:"place" required:""`
	Message string `help:"The identifier of a message." env:"-" xor:"place" required:""`
}

// assign puts the label on something, or takes it from it.
func (f labelFlags) assign(ctx context.Context, t terminal.Terminal, on Instance, put bool, done string) error {
	var err error
	switch {
	case f.Chat != "" && put:
		err = on.Gateway.LabelChat(ctx, on.ID, f.Chat, f.Label)
	case f.Chat != "":
		err = on.Gateway.UnlabelChat(ctx, on.ID, f.Chat, f.Label)
	case f.Message != "" && put:
		err = on.Gateway.LabelMessage(ctx, on.ID, f.Message, f.Label)
	case f.Message != "":
		err = on.Gateway.UnlabelMessage(ctx, on.ID, f.Message, f.Label)
	default:
		err = errors.New("--chat and --message are empty")
	}
	return t.Did(done, "label", f.Label, err)
}

type putCommand struct{ labelFlags }

// Run puts a label on something.
func (c putCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	return c.assign(ctx, t, on, true, "put")
}

type takeCommand struct{ labelFlags }

// Run takes a label from something.
func (c takeCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	return c.assign(ctx, t, on, false, "taken")
}
