// Package calls holds the resource of calls in the HTTP API. The table of routes is in the
// room api.
package calls

import (
	"context"
	"net/http"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
)

// Tag groups the operations in the document and on the reference page.
const Tag = "Calls"

// UseCases are the use cases of calls.
type UseCases interface {
	Reject(ctx context.Context, instanceID, callID string) error
}

type rejectInput struct {
	contract.InstancePath

	CallID string `path:"callId" maxLength:"255" doc:"The platform's identifier of the call, from the event call.received." example:"3EB0A1B2C3D4E5F60718"`
}

// Routes are the operations, in the order in which the reference page shows them.
func Routes(use UseCases) []contract.Route {
	return []contract.Route{contract.Post("/api/instances/{instanceId}/calls/{callId}/reject", contract.Handle(contract.Operation{
		ID: "rejectCall", Tag: Tag, Status: http.StatusNoContent,
		Summary: "Reject a call",
		Description: "The call stops ringing, on the phone too, and the caller sees that it was rejected. A call rings for a minute at most; " +
			"one of before a restart of the gateway can't be rejected. To reject all calls, set `rejectCalls` of the instance.",
		Codes: []string{
			gateway.CodePaymentRequired, gateway.CodeNotConnected, gateway.CodeCallNotFound,
			gateway.CodePlatformError, gateway.CodePlatformTimeout, gateway.CodeUnavailable, gateway.CodeValidation,
		},
	}, func(ctx context.Context, in *rejectInput) (*struct{}, error) {
		return nil, use.Reject(ctx, contract.Instance(ctx).ID, in.CallID)
	}))}
}
