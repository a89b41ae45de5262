// Messages that are starred or deleted, for the account alone.

package chats

import (
	"context"
	"net/http"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
)

// markCodes are the refusals of the operations here.
func markCodes(more ...string) []string {
	return append(more, gateway.CodeValidation, gateway.CodeMessageNotFound, gateway.CodeNotConnected, gateway.CodeNotSynced, gateway.CodeChatRefused,
		gateway.CodePaymentRequired, gateway.CodeRateLimited, gateway.CodePlatformError, gateway.CodePlatformTimeout)
}

// Star stars a message.
func (r Resource) Star() contract.Endpoint {
	return r.star(contract.Operation{
		ID: "starMessage", Summary: "Star a message",
		Description: "Stars a message, on all devices of the account; nobody else sees it. `starred=true` in the list of a chat's messages finds it again.",
	}, true)
}

// Unstar takes the star of a message away.
func (r Resource) Unstar() contract.Endpoint {
	return r.star(contract.Operation{
		ID: "unstarMessage", Summary: "Take the star of a message away", Description: "Takes the star of a message away, on all devices of the account.",
	}, false)
}

func (r Resource) star(op contract.Operation, starred bool) contract.Endpoint {
	op.Tag, op.Status, op.Codes = Tag, http.StatusNoContent, markCodes()
	return contract.Handle(op, func(ctx context.Context, in *messageInput) (*struct{}, error) {
		return nil, r.Use.Star(ctx, contract.Instance(ctx).ID, messageRef(in.MessageID), starred)
	})
}

// DeleteForMe deletes a message for the account alone.
func (r Resource) DeleteForMe() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "deleteMessageForMe", Tag: Tag,
		Summary: "Delete a message for this account alone",
		Description: "Deletes a message from all devices of the account, and its content and file here. It may be anybody's, of any age. " +
			"The others in the chat keep it, and learn nothing of this.",
		Status: http.StatusNoContent,
		Codes:  markCodes(gateway.CodeMessageBeingSent),
	}, func(ctx context.Context, in *messageInput) (*struct{}, error) {
		return nil, r.Use.DeleteForMe(ctx, contract.Instance(ctx).ID, messageRef(in.MessageID))
	})
}
