// The operation that shows a presence.

package api

import (
	"context"
	"net/http"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
)

type presenceBody struct {
	Addressee

	Presence string `json:"presence" enum:"composing,recording,paused,available,unavailable" doc:"composing: typing; recording: recording audio; paused: stopped typing or recording; available: online; unavailable: offline." example:"composing"`
}

type presenceInput struct {
	contract.InstancePath
	contract.JSON[presenceBody]
}

func (p people) sendPresence() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "sendPresence", Tag: tagDirectory,
		Summary: "Send presence",
		Description: "Shows a contact that this account is typing or recording, or that it has stopped. " +
			"Online and offline are shown to everybody who may see them, not only to this contact.",
		Status: http.StatusNoContent,
		Codes:  append(sessionCodes(), gateway.CodeNotRegistered),
	}, func(ctx context.Context, in *presenceInput) (*struct{}, error) {
		given := in.Given()
		to, err := parseRecipient(given.To)
		if err != nil {
			return nil, err
		}
		if to.Chat.IsChannel() {
			return nil, gateway.InvalidFields(gateway.FieldError{Field: "to", Message: "must be a person or a group: nobody types in a channel"})
		}
		return nil, p.directory.SendPresence(ctx, contract.Instance(ctx).ID, to, gateway.Presence(given.Presence))
	})
}
