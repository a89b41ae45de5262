// Calls.

package remote

import (
	"context"

	"github.com/recado-project/recado/internal/cli/target"
	"github.com/recado-project/recado/internal/cli/terminal"
)

// Calls are the commands about calls.
type Calls struct {
	Reject rejectCommand `cmd:"" help:"Reject a call that rings."`
}

type rejectCommand struct {
	target.InstanceFlag
	CallID string `arg:"" name:"call-id" help:"Identifier of the call, from the event call.received."`
}

// Run rejects the call.
func (c rejectCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	if err := gateway.RejectCall(ctx, id, c.CallID); err != nil {
		return err
	}
	return t.Done(map[string]any{"call": c.CallID, "done": "rejected"}, "rejected %s", c.CallID)
}
