package api

import (
	"context"

	"github.com/recado-project/recado/internal/gateway"
)

type forwardBody struct {
	Addressee

	MessageID string `json:"messageId" minLength:"1" doc:"Message to forward: its platform identifier, the composite form, or the id of a send result." example:"3EB0C431C26A1916E07A"`
}

func forwardOperation() operation {
	return sendOperation("forward", "forwardMessage", "Forward a message",
		"Sends what a message of this instance says to somebody else, marked as forwarded. ").refusing(gateway.CodeMessageNotFound)
}

func (s *service) forward(ctx context.Context, in *sendInput[forwardBody]) (*sentAnswer, error) {
	request, err := newRequest(ctx, in, in.Given().To, "")
	if err != nil {
		return nil, err
	}
	return newSentAnswer(s.Messages.Forward(ctx, request, messageRef(in.Given().MessageID)))
}
