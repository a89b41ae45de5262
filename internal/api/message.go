package api

import (
	"context"
	"net/http"

	"github.com/recado-project/recado/internal/gateway"
)

// messageInput is the input of every operation on a message that exists.
type messageInput[T any] struct {
	InstancePath
	JSON[T]
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

	Reaction string `json:"reaction" format:"emoji" doc:"One emoji; empty takes the reaction back." example:"👍"`
}

// Read names the message that was marked as read.
type Read struct {
	MessageID string `json:"messageId" doc:"As it was given." example:"3EB0C431C26A1916E07A"`
}

func (s *service) registerMessage() {
	codes := func(more ...string) []string {
		return append(append(sessionCodes(), gateway.CodeMessageNotFound), more...)
	}
	path := func(name string) string { return "/api/message/{instanceId}/" + name }
	register(s, operation{
		id: "editMessage", method: http.MethodPost, path: path("edit"), tag: tagMessages,
		summary: "Edit a message",
		description: "Gives a text that this instance sent new words. Other kinds of messages can't be edited, and the platform allows it " +
			"for 15 minutes.",
		codes: codes(gateway.CodeMessageNotEditable, gateway.CodeEditWindowExpired),
	}, s.editMessage)
	register(s, operation{
		id: "markRead", method: http.MethodPost, path: path("read"), tag: tagMessages,
		summary: "Mark a message as read", description: "The sender sees that the message was read.",
		codes: codes(),
	}, s.markRead)
	register(s, operation{
		id: "deleteMessage", method: http.MethodDelete, path: path("delete"), tag: tagMessages,
		summary:     "Delete a message for everyone",
		description: "Takes back a message that this instance sent. The platform allows it for about an hour.",
		status:      http.StatusNoContent,
		codes:       codes(gateway.CodeMessageNotDeletable, gateway.CodeDeleteWindowExpired),
	}, s.deleteMessage)
	register(s, operation{
		id: "sendReaction", method: http.MethodPost, path: path("reaction"), tag: tagMessages,
		summary:     "React to a message",
		description: "Puts one emoji on a message, in place of an earlier one of this instance, or takes it back.",
		status:      http.StatusNoContent,
		codes:       codes(),
	}, s.react)
}

func (s *service) editMessage(ctx context.Context, in *messageInput[editBody]) (*answer[Sent], error) {
	result, err := s.Messages.Edit(ctx, exchangeOf(ctx).instance.ID, messageRef(in.Given().MessageID), in.Given().Message)
	if err != nil {
		return nil, err
	}
	return &answer[Sent]{newSent(result)}, nil
}

func (s *service) markRead(ctx context.Context, in *messageInput[markReadBody]) (*answer[Read], error) {
	if err := s.Messages.MarkRead(ctx, exchangeOf(ctx).instance.ID, messageRef(in.Given().MessageID)); err != nil {
		return nil, err
	}
	return &answer[Read]{Read{MessageID: in.Given().MessageID}}, nil
}

func (s *service) deleteMessage(ctx context.Context, in *messageInput[deleteBody]) (*struct{}, error) {
	return nil, s.Messages.Delete(ctx, exchangeOf(ctx).instance.ID, messageRef(in.Given().MessageID))
}

func (s *service) react(ctx context.Context, in *messageInput[reactionBody]) (*struct{}, error) {
	return nil, s.Messages.React(ctx, exchangeOf(ctx).instance.ID, messageRef(in.Given().MessageID), in.Given().Reaction)
}
