// Package labels holds the resource of labels, in the HTTP API. The table of routes is in the
// room api.
package labels

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/api/format"
	"github.com/recado-project/recado/internal/gateway"
)

// Tag groups the operations in the document and on the reference page.
const Tag = "Labels"

// UseCases are the use cases of labels.
type UseCases interface {
	List(ctx context.Context, instanceID string, page gateway.PageRequest) (gateway.Page[gateway.Label], error)
	Get(ctx context.Context, instanceID, id string) (gateway.Label, error)
	Create(ctx context.Context, instanceID, name string, color int) (gateway.Label, error)
	Change(ctx context.Context, instanceID, id string, name *string, color *int) (gateway.Label, error)
	Delete(ctx context.Context, instanceID, id string) error
	AssignToChat(ctx context.Context, instanceID, id string, with gateway.Recipient, on bool) error
	AssignToMessage(ctx context.Context, instanceID, id string, ref gateway.MessageRef, on bool) error
}

type resource struct{ use UseCases }

// Routes are the operations, in the order in which the reference page shows them.
func Routes(use UseCases) []contract.Route {
	r := resource{use}
	const instance = "/api/instances/{instanceId}"
	const ofChat = instance + "/chats/{chatId}/labels/{labelId}"
	const ofMessage = "/api/message/{instanceId}/{messageId}/labels/{labelId}"
	return []contract.Route{
		contract.Get(instance+"/labels", r.list()),
		contract.Post(instance+"/labels", r.create()),
		contract.Get(instance+"/labels/{labelId}", r.get()),
		contract.Patch(instance+"/labels/{labelId}", r.change()),
		contract.Delete(instance+"/labels/{labelId}", r.remove()),
		contract.Put(ofChat, r.chat("labelChat", "Label a chat", "Puts a label on a chat. A chat that has it already stays as it is.", true)),
		contract.Delete(ofChat, r.chat("unlabelChat", "Take a label from a chat", "Takes a label from a chat. A chat without it stays as it is.", false)),
		contract.Put(ofMessage, r.message("labelMessage", "Label a message", "Puts a label on a message. A message that has it already stays as it is.", true)),
		contract.Delete(ofMessage, r.message("unlabelMessage", "Take a label from a message", "Takes a label from a message. A message without it stays as it is.", false)),
	}
}

// codes are the refusals of an operation that changes labels, and more.
func codes(more ...string) []string {
	return append([]string{
		gateway.CodeValidation, gateway.CodeLabelNotFound, gateway.CodePaymentRequired, gateway.CodeNotConnected, gateway.CodeUnavailable,
		gateway.CodeNotSynced, gateway.CodeLabelRefused, gateway.CodeRateLimited, gateway.CodePlatformError, gateway.CodePlatformTimeout,
	}, more...)
}

// Label is a label in answers.
type Label struct {
	LabelID string `json:"labelId" doc:"The platform's identifier, mostly a number." example:"7"`
	Name    string `json:"name" doc:"The name; empty for lists that the messenger itself makes." example:"Waiting for payment"`
	Color   int    `json:"color" doc:"The number of a colour of the messenger's clients, from 0." example:"3"`
}

func newLabel(label gateway.Label) Label { return Label{label.ID, label.Name, label.Color} }

type listInput struct {
	contract.InstancePath
	contract.Paging
}

func (r resource) list() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "listLabels", Tag: Tag,
		Summary: "List labels",
		Description: "Lists the labels of the account. It is read from what the gateway has kept; the platform is asked nothing. " +
			"The chats with a label are a filter of the list of chats, and its messages one of the list of messages.",
		Codes: []string{gateway.CodeValidation},
	}, func(ctx context.Context, in *listInput) (*contract.Answer[contract.Envelope[Label]], error) {
		page, err := r.use.List(ctx, contract.Instance(ctx).ID, in.Request())
		if err != nil {
			return nil, err
		}
		return &contract.Answer[contract.Envelope[Label]]{Body: contract.NewEnvelope(in.Paging, page, newLabel)}, nil
	})
}

// LabelID is the part of a path that names a label.
type LabelID struct {
	LabelID string `path:"labelId" doc:"The label, as the list names it." example:"7"`
}

// Resolve refuses a text that can't be an identifier.
func (l *LabelID) Resolve(huma.Context) []error {
	if wrong := format.CheckSegment(l.LabelID); wrong != "" {
		return contract.Wrong("labelId", wrong)
	}
	return nil
}

// Path is the path of a label.
type Path struct {
	contract.InstancePath
	LabelID
}

func (r resource) get() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getLabel", Tag: Tag,
		Summary: "Get a label", Description: "Returns a label, as in the list.",
		Codes: []string{gateway.CodeValidation, gateway.CodeLabelNotFound},
	}, func(ctx context.Context, in *Path) (*contract.Answer[Label], error) {
		label, err := r.use.Get(ctx, contract.Instance(ctx).ID, in.LabelID.LabelID)
		return answer(label, err)
	})
}

func answer(label gateway.Label, err error) (*contract.Answer[Label], error) {
	if err != nil {
		return nil, err
	}
	return &contract.Answer[Label]{Body: newLabel(label)}, nil
}

type labelBody struct {
	Name  string `json:"name" minLength:"1" maxLength:"100" doc:"The name, at most 100 characters." example:"Waiting for payment"`
	Color int    `json:"color,omitempty" minimum:"0" maximum:"19" doc:"The number of a colour of the messenger's clients, 0 to 19." example:"3"`
}

type createInput struct {
	contract.InstancePath
	contract.JSON[labelBody]
}

func (r resource) create() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "createLabel", Tag: Tag,
		Summary:     "Create a label",
		Description: "Makes a label, on all devices of the account. Phones with the messenger's business app show labels; others may show them as lists, or not at all.",
		Status:      http.StatusCreated,
		Codes:       codes(),
	}, func(ctx context.Context, in *createInput) (*contract.Answer[Label], error) {
		if err := in.RefuseUnknown(); err != nil {
			return nil, err
		}
		name, err := nameOf(in.Given().Name)
		if err != nil {
			return nil, err
		}
		label, err := r.use.Create(ctx, contract.Instance(ctx).ID, name, in.Given().Color)
		return answer(label, err)
	})
}

// nameOf is the name of a label without the space around it.
func nameOf(given string) (string, error) {
	name := gateway.CleanName(given)
	if strings.TrimSpace(name) == "" {
		return "", gateway.InvalidFields(gateway.FieldError{Field: "name", Message: "must have a letter that can be seen"})
	}
	return strings.TrimSpace(name), nil
}

type labelChangeBody struct {
	Name  *string `json:"name,omitempty" minLength:"1" maxLength:"100" doc:"The name, at most 100 characters." example:"Paid"`
	Color *int    `json:"color,omitempty" minimum:"0" maximum:"19" doc:"The number of a colour of the messenger's clients, 0 to 19." example:"4"`
}

type changeInput struct {
	Path
	contract.JSON[labelChangeBody]
}

func (r resource) change() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "changeLabel", Tag: Tag,
		Summary: "Change a label", Description: "Changes what the body names and leaves the rest, on all devices of the account.",
		Codes: codes(),
	}, func(ctx context.Context, in *changeInput) (*contract.Answer[Label], error) {
		if err := in.RefuseUnknown(); err != nil {
			return nil, err
		}
		given := in.Given()
		if given.Name == nil && given.Color == nil {
			return nil, gateway.InvalidFields(gateway.FieldError{Field: "body", Message: "must have a field to change, which is not null"})
		}
		if given.Name != nil {
			name, err := nameOf(*given.Name)
			if err != nil {
				return nil, err
			}
			given.Name = &name
		}
		label, err := r.use.Change(ctx, contract.Instance(ctx).ID, in.LabelID.LabelID, given.Name, given.Color)
		return answer(label, err)
	})
}

func (r resource) remove() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "deleteLabel", Tag: Tag,
		Summary: "Delete a label", Description: "Deletes a label, on all devices of the account. No chat and no message has it then.",
		Status: http.StatusNoContent,
		Codes:  codes(),
	}, func(ctx context.Context, in *Path) (*struct{}, error) {
		return nil, r.use.Delete(ctx, contract.Instance(ctx).ID, in.LabelID.LabelID)
	})
}

// ChatPath is the path of a label on a chat.
type ChatPath struct {
	Path

	ChatID string `path:"chatId" doc:"The chat: a phone number with country code, a chat ID or a LID." example:"5511988887766"`

	with gateway.Recipient
}

// Resolve reads the chat and the label.
func (p *ChatPath) Resolve(ctx huma.Context) []error {
	errs := p.LabelID.Resolve(ctx)
	with, err := gateway.ParseRecipient(p.ChatID)
	if err != nil {
		return append(errs, contract.Wrong("chatId", err.Error())...)
	}
	p.with = with
	return errs
}

func (r resource) chat(id, summary, description string, on bool) contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: id, Tag: Tag, Summary: summary, Description: description, Status: http.StatusNoContent,
		Codes: codes(gateway.CodeChatNotFound),
	}, func(ctx context.Context, in *ChatPath) (*struct{}, error) {
		return nil, r.use.AssignToChat(ctx, contract.Instance(ctx).ID, in.LabelID.LabelID, in.with, on)
	})
}

// MessagePath is the path of a label on a message.
type MessagePath struct {
	Path

	MessageID string `path:"messageId" doc:"The message: its platform identifier, the composite form, or the id of a send result." example:"3EB0C431C26A1916E07A"`
}

// Resolve refuses texts that can't be identifiers.
func (p *MessagePath) Resolve(ctx huma.Context) []error {
	errs := p.LabelID.Resolve(ctx)
	if wrong := format.CheckSegment(p.MessageID); wrong != "" {
		errs = append(errs, contract.Wrong("messageId", wrong)...)
	}
	return errs
}

func (r resource) message(id, summary, description string, on bool) contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: id, Tag: Tag, Summary: summary, Description: description, Status: http.StatusNoContent,
		Codes: codes(gateway.CodeMessageNotFound, gateway.CodeChatNotFound),
	}, func(ctx context.Context, in *MessagePath) (*struct{}, error) {
		return nil, r.use.AssignToMessage(ctx, contract.Instance(ctx).ID, in.LabelID.LabelID, gateway.ParseMessageRef(in.MessageID), on)
	})
}
