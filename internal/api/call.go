// Calls that ring.

package api

import (
	"context"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/call"
	"github.com/recado-project/recado/internal/gateway"
)

type rejectInput struct {
	contract.InstancePath

	CallID string `path:"callId" maxLength:"255" doc:"The platform's identifier of the call, from the event call.received." example:"3EB0A1B2C3D4E5F60718"`
}

type calls struct{ use *call.Service }

func (c calls) reject() contract.Endpoint {
	return contract.Do(contract.Operation{
		ID: "rejectCall", Tag: tagCalls,
		Summary: "Reject a call",
		Description: "The call stops ringing, on the phone too, and the caller sees that it was rejected. A call rings for a minute at most; " +
			"one of before a restart of the gateway can't be rejected. To reject all calls, set `rejectCalls` of the instance.",
		Codes: sessionCodes(gateway.CodeValidation, gateway.CodeCallNotFound),
	}, func(ctx context.Context, in *rejectInput) error {
		return c.use.Reject(ctx, contract.Instance(ctx).ID, in.CallID)
	})
}
