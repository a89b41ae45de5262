// Asking the phone for older messages, over HTTP.

package chats

import (
	"context"
	"net/http"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/chat"
	"github.com/recado-project/recado/internal/gateway"
)

type olderBody struct {
	Count *int64 `json:"count,omitempty" minimum:"1" maximum:"50" doc:"How many messages: 50 at most. Left out: 50." example:"50"`
}

type olderInput struct {
	Path
	contract.JSON[olderBody]
}

// HistoryRequest is a request that the phone has to answer.
type HistoryRequest struct {
	RequestID string  `json:"requestId" doc:"The event chat.history names it." example:"3EB0A1B2C3D4E5F60718"`
	Chat      string  `json:"chat" doc:"The chat: by number where the number is known, else by LID; the group's ID for a group."`
	ChatLID   *string `json:"chatLid" nullable:"true" doc:"The chat's LID; null for a group, and where it is not known."`
	Before    string  `json:"before" doc:"The oldest message that is kept: those before it are asked for." example:"3EB0F1E2D3C4B5A69788"`
	Count     int64   `json:"count" doc:"How many are asked for." example:"50"`
}

// Older asks the phone for older messages of a chat.
func (r Resource) Older() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "requestHistory", Tag: Tag, Status: http.StatusAccepted,
		Summary: "Request older messages",
		Description: "Asks the phone for messages of the chat that are older than the oldest which is kept. It has to be online, and may take a while: " +
			"the event `chat.history` says how many have come, and whether there are more, or that the phone has not answered within two minutes. " +
			"The messages are read with the others of the chat; they cause no events of their own, are not unread, and are kept as long as others of their age. " +
			"One request for a chat at a time.",
		Codes: []string{
			gateway.CodeValidation, gateway.CodeChatNotFound, gateway.CodeMessageNotFound, gateway.CodeNotConnected, gateway.CodeHistoryPending,
			gateway.CodePaymentRequired, gateway.CodeRateLimited, gateway.CodePlatformError, gateway.CodePlatformTimeout,
		},
	}, func(ctx context.Context, in *olderInput) (*contract.Answer[HistoryRequest], error) {
		if err := in.RefuseUnknown(); err != nil {
			return nil, err
		}
		if in.IsNull("count") {
			return nil, gateway.InvalidFields(gateway.FieldError{Field: "count", Message: "must not be null: leave it out for 50"})
		}
		count := int64(chat.MaxOlder)
		if given := in.Given().Count; given != nil {
			count = *given
		}
		asked, err := r.Use.RequestOlder(ctx, contract.Instance(ctx).ID, in.with, int(count))
		if err != nil {
			return nil, err
		}
		return &contract.Answer[HistoryRequest]{Body: HistoryRequest{
			RequestID: asked.RequestID, Chat: string(asked.Chat.Address()), ChatLID: contract.TextOrNil(string(asked.Chat.LID)), Before: asked.Before, Count: int64(asked.Count),
		}}, nil
	})
}
