package cli

import (
	"context"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/remote"
	"github.com/recado-project/recado/internal/cli/terminal"
)

// queueCommand works on the messages of an instance that wait to be sent.
type queueCommand struct {
	List   listQueueCommand   `cmd:"" help:"List the messages that wait, and what for."`
	Cancel cancelQueueCommand `cmd:"" help:"Take a message out of the queue, or all of them, so that it is not sent."`
}

type listQueueCommand struct{ remote.InstanceFlag }

// Run lists the messages.
func (c listQueueCommand) Run(ctx context.Context, t terminal.Terminal, on remote.Instance) error {
	head := []string{"ID", "TO", "TYPE", "STATE", "DUE"}
	return terminal.List(t, on.Gateway.Queue(ctx, on.ID), head, func(message client.QueuedMessage) []string {
		state := message.State
		if message.Reason != nil {
			state += " (" + *message.Reason + ")"
		}
		return []string{message.ID, message.To, message.Type, state, terminal.Moment(message.SendAt)}
	})
}

type cancelQueueCommand struct {
	remote.InstanceFlag
	MessageID string `arg:"" optional:"" name:"message-id" help:"The id or the messageId, as printed by send."`
	All       bool   `help:"Cancel all messages of the instance that wait." env:"-"`
}

// AfterApply refuses a command line that names no message, or one and all.
func (c cancelQueueCommand) AfterApply() error {
	if c.All == (c.MessageID != "") {
		return terminal.WrongUsage("give either a message or --all")
	}
	return nil
}

// Run cancels the message, or all of them.
func (c cancelQueueCommand) Run(ctx context.Context, t terminal.Terminal, on remote.Instance) error {
	if !c.All {
		if err := on.Gateway.CancelQueuedMessage(ctx, on.ID, c.MessageID); err != nil {
			return err
		}
		return t.Done(map[string]any{"cancelled": 1}, "cancelled %s", c.MessageID)
	}
	n, err := on.Gateway.CancelQueue(ctx, on.ID)
	return t.Unless(err).Done(map[string]any{"cancelled": n.Cancelled}, "cancelled %d messages", n.Cancelled)
}
