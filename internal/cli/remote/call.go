// Calls.

package remote

import (
	"context"

	"github.com/recado-project/recado/internal/cli/terminal"
)

// Calls are the commands about calls.
type Calls struct {
	Reject rejectCommand `cmd:"" help:"Reject a call that rings."`
}

type rejectCommand struct {
	InstanceFlag
	CallID string `arg:"" name:"call-id" help:"Identifier of the call, from the event call.received."`
}

// Run rejects the call.
func (c rejectCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	return t.Did("rejected", "call", c.CallID, on.Gateway.RejectCall(ctx, on.ID, c.CallID))
}
