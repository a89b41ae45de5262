package api

import (
	"context"
	"net/http"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging"
)

// MessageChanges are the use cases of a message that exists.
type MessageChanges interface {
	Edit(ctx context.Context, instanceID string, ref gateway.MessageRef, text string) (messaging.Result, error)
	MarkRead(ctx context.Context, instanceID string, ref gateway.MessageRef) error
	Delete(ctx context.Context, instanceID string, ref gateway.MessageRef) error
	React(ctx context.Context, instanceID string, ref gateway.MessageRef, reaction string) error
}

// messages is the resource of messages that exist.
type messages struct{ use MessageChanges }

// messageInput is the input of every operation on a message that exists.
type messageInput[T any] struct {
	contract.InstancePath
	contract.JSON[T]
}

// Subject is the field of every body about a message that exists.
type Subject struct {
	MessageID string `json:"messageId" minLength:"1" doc:"The message: its platform identifier, the composite form, or the id of a send result." example:"3EB0C431C26A1916E07A"`
}

type editBody struct {
	Subject

	Message string `json:"message" minLength:"1" maxLength:"65536" doc:"The new text, at most 65,536 characters." example:"Your order arrives tomorrow."`
}

type markReadBody struct {
	Subject
}

type deleteBody struct {
	Subject
}

type reactionBody struct {
	Subject

	Reaction string `json:"reaction" format:"emoji" doc:"One emoji; empty removes the reaction." example:"👍"`
}

// Read names the message that was marked as read.
type Read struct {
	MessageID string `json:"messageId" doc:"The identifier as it was given." example:"3EB0C431C26A1916E07A"`
}

// messageCodes are the refusals of every operation on a message that exists.
func messageCodes(more ...string) []string {
	return append(append(sessionCodes(), gateway.CodeMessageNotFound), more...)
}

func (m messages) edit() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "editMessage", Tag: tagMessages,
		Summary: "Edit a message",
		Description: "Replaces the text of a text message that this instance sent. Other kinds of messages can't be edited, and the platform allows it only " +
			"for 15 minutes.",
		Codes: messageCodes(gateway.CodeMessageNotEditable, gateway.CodeEditWindowExpired),
	}, func(ctx context.Context, in *messageInput[editBody]) (*contract.Answer[Sent], error) {
		given := in.Given()
		result, err := m.use.Edit(ctx, contract.Instance(ctx).ID, messageRef(given.MessageID), given.Message)
		if err != nil {
			return nil, err
		}
		return &contract.Answer[Sent]{Body: newSent(result)}, nil
	})
}

func (m messages) markRead() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "markRead", Tag: tagMessages,
		Summary: "Mark a message as read", Description: "The sender sees that the message was read.",
		Codes: messageCodes(),
	}, func(ctx context.Context, in *messageInput[markReadBody]) (*contract.Answer[Read], error) {
		id := in.Given().MessageID
		if err := m.use.MarkRead(ctx, contract.Instance(ctx).ID, messageRef(id)); err != nil {
			return nil, err
		}
		return &contract.Answer[Read]{Body: Read{MessageID: id}}, nil
	})
}

func (m messages) delete() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "deleteMessage", Tag: tagMessages,
		Summary:     "Delete a message for everyone",
		Description: "Deletes, for everybody, a message that this instance sent. The platform allows it for about an hour.",
		Status:      http.StatusNoContent,
		Codes:       messageCodes(gateway.CodeMessageNotDeletable, gateway.CodeDeleteWindowExpired),
	}, func(ctx context.Context, in *messageInput[deleteBody]) (*struct{}, error) {
		return nil, m.use.Delete(ctx, contract.Instance(ctx).ID, messageRef(in.Given().MessageID))
	})
}

func (m messages) react() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "sendReaction", Tag: tagMessages,
		Summary:     "React to a message",
		Description: "Adds one emoji to a message, replacing an earlier one from this instance, or removes it.",
		Status:      http.StatusNoContent,
		Codes:       messageCodes(),
	}, func(ctx context.Context, in *messageInput[reactionBody]) (*struct{}, error) {
		given := in.Given()
		return nil, m.use.React(ctx, contract.Instance(ctx).ID, messageRef(given.MessageID), given.Reaction)
	})
}
