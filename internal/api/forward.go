// The operation that forwards a message.

package api

import (
	"context"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging"
)

type forwardBody struct {
	Addressee

	MessageID string `json:"messageId" minLength:"1" doc:"Message to forward: its platform identifier, the composite form, or the id of a send result." example:"3EB0C431C26A1916E07A"`
}

func (s sending) forward() contract.Endpoint {
	return handleSend(contract.Operation{
		ID: "forwardMessage", Summary: "Forward a message",
		Description: "Sends the content of a message of this instance to somebody else, marked as forwarded. ",
		Codes:       []string{gateway.CodeMessageNotFound},
	}, func(ctx context.Context, in *sendInput[forwardBody]) (messaging.Result, error) {
		given := in.Given()
		request, err := newRequest(ctx, in, given.To, "")
		if err != nil {
			return messaging.Result{}, err
		}
		return s.use.Forward(ctx, request, messageRef(given.MessageID))
	})
}
