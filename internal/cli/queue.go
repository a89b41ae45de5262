package cli

import (
	"context"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/target"
	"github.com/recado-project/recado/internal/cli/terminal"
)

// queueCommand works on the messages of an instance that wait to be sent.
type queueCommand struct {
	List   listQueueCommand   `cmd:"" help:"List the messages that wait, and what for."`
	Cancel cancelQueueCommand `cmd:"" help:"Take a message out of the queue, or all of them, so that it is not sent."`
}

type listQueueCommand struct{ target.InstanceFlag }

// Run lists the messages.
func (c listQueueCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	waiting := []client.QueuedMessage{} // never null
	var rows [][]string
	for message, err := range gateway.Queue(ctx, id) {
		if err != nil {
			return err
		}
		waiting = append(waiting, message)
		state := message.State
		if message.Reason != nil {
			state += " (" + *message.Reason + ")"
		}
		rows = append(rows, []string{message.ID, message.To, message.Type, state, message.SendAt.Local().Format(time.DateTime)})
	}
	return t.Table(waiting, []string{"ID", "TO", "TYPE", "STATE", "DUE"}, rows)
}

type cancelQueueCommand struct {
	target.InstanceFlag
	MessageID string `arg:"" optional:"" name:"message-id" help:"The id or the messageId, as printed by send."`
	All       bool   `help:"Cancel all messages of the instance that wait." env:"-"`
}

// Run cancels the message, or all of them.
func (c cancelQueueCommand) Run(ctx context.Context, t terminal.Terminal) error {
	if c.All == (c.MessageID != "") {
		return terminal.WrongUsage("give either a message or --all")
	}
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	if !c.All {
		if err := gateway.CancelQueuedMessage(ctx, id, c.MessageID); err != nil {
			return err
		}
		return t.Done(map[string]any{"cancelled": 1}, "cancelled %s", c.MessageID)
	}
	n, err := gateway.CancelQueue(ctx, id)
	if err != nil {
		return err
	}
	return t.Done(map[string]any{"cancelled": n}, "cancelled %d messages", n)
}
