// Labels: which there are, and which chats and messages have them.

package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/label"
)

type labels struct{ use *label.Service }

// labelCodes are the refusals of an operation that changes labels, and more.
func labelCodes(more ...string) []string {
	return sessionCodes(append(more, gateway.CodeValidation, gateway.CodeLabelNotFound, gateway.CodeNotSynced, gateway.CodeLabelRefused)...)
}

// Label is a label in answers.
type Label struct {
	LabelID string `json:"labelId" doc:"The platform's identifier, mostly a number." example:"7"`
	Name    string `json:"name" doc:"The name; empty for lists that the messenger itself makes." example:"Waiting for payment"`
	Color   int    `json:"color" doc:"The number of a colour of the messenger's clients, from 0." example:"3"`
}

func newLabel(of gateway.Label) Label { return Label{of.ID, of.Name, of.Color} }

func (r labels) list() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "listLabels", Tag: tagLabels,
		Summary: "List labels",
		Description: "Lists the labels of the account. It is read from what the gateway has kept; the platform is asked nothing. " +
			"The chats with a label are a filter of the list of chats, and its messages one of the list of messages.",
		Codes: []string{gateway.CodeValidation},
	}, func(ctx context.Context, in *instanceList) (contract.Envelope[Label], error) {
		return contract.Listed(in.Paging, newLabel)(r.use.List(ctx, contract.Instance(ctx).ID, in.Request()))
	})
}

// LabelID is the part of a path that names a label.
type LabelID struct {
	LabelID string `path:"labelId" doc:"The label, as the list names it." example:"7"`
}

// Resolve refuses a text that can't be an identifier.
func (l *LabelID) Resolve(huma.Context) []error {
	return checkSegment("labelId", l.LabelID)
}

// LabelPath is the path of a label.
type LabelPath struct {
	contract.InstancePath
	LabelID
}

func (r labels) get() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getLabel", Tag: tagLabels,
		Summary: "Get a label", Description: "Returns a label, as in the list.",
		Codes: []string{gateway.CodeValidation, gateway.CodeLabelNotFound},
	}, func(ctx context.Context, in *LabelPath) (Label, error) {
		return contract.Answered(newLabel)(r.use.Get(ctx, contract.Instance(ctx).ID, in.LabelID.LabelID))
	})
}

type newLabelBody struct {
	Name  string `json:"name" minLength:"1" maxLength:"100" doc:"The name, at most 100 characters." example:"Waiting for payment"`
	Color int    `json:"color,omitempty" default:"0" minimum:"0" maximum:"19" doc:"The number of a colour of the messenger's clients, 0 to 19." example:"3"`
}

func (r labels) create() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "createLabel", Tag: tagLabels,
		Summary:     "Create a label",
		Description: "Makes a label, on all devices of the account. Phones with the messenger's business app show labels; others may show them as lists, or not at all.",
		Status:      http.StatusCreated,
		Codes:       labelCodes(),
	}, func(ctx context.Context, in *instanceBody[newLabelBody]) (Label, error) {
		if err := in.RefuseUnknown(); err != nil {
			return Label{}, err
		}
		name, err := labelName(in.Given().Name)
		if err != nil {
			return Label{}, err
		}
		return contract.Answered(newLabel)(r.use.Create(ctx, contract.Instance(ctx).ID, name, in.Given().Color))
	})
}

// labelName is the name of a label without the space around it.
func labelName(given string) (string, error) {
	name := gateway.CleanName(given)
	if strings.TrimSpace(name) == "" {
		return "", gateway.InvalidField("name", "must have a letter that can be seen")
	}
	return strings.TrimSpace(name), nil
}

type labelChangeBody struct {
	Name  *string `json:"name,omitempty" minLength:"1" maxLength:"100" doc:"The name, at most 100 characters." example:"Paid"`
	Color *int    `json:"color,omitempty" minimum:"0" maximum:"19" doc:"The number of a colour of the messenger's clients, 0 to 19." example:"4"`
}

type changeLabelInput struct {
	LabelPath
	contract.JSON[labelChangeBody]
}

func (r labels) change() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "changeLabel", Tag: tagLabels,
		Summary: "Change a label", Description: "Changes what the body names and leaves the rest, on all devices of the account.",
		Codes: labelCodes(),
	}, func(ctx context.Context, in *changeLabelInput) (Label, error) {
		if err := in.RefuseUnknown(); err != nil {
			return Label{}, err
		}
		given := in.Given()
		if given.Name == nil && given.Color == nil {
			return Label{}, gateway.InvalidField("body", "must have a field to change, which is not null")
		}
		if given.Name != nil {
			name, err := labelName(*given.Name)
			if err != nil {
				return Label{}, err
			}
			given.Name = &name
		}
		return contract.Answered(newLabel)(r.use.Change(ctx, contract.Instance(ctx).ID, in.LabelID.LabelID, given.Name, given.Color))
	})
}

func (r labels) remove() contract.Endpoint {
	return contract.Do(contract.Operation{
		ID: "deleteLabel", Tag: tagLabels,
		Summary: "Delete a label", Description: "Deletes a label, on all devices of the account. No chat and no message has it then.",
		Codes: labelCodes(),
	}, func(ctx context.Context, in *LabelPath) error {
		return r.use.Delete(ctx, contract.Instance(ctx).ID, in.LabelID.LabelID)
	})
}

// ChatLabelPath is the path of a label on a chat.
type ChatLabelPath struct {
	LabelPath

	ChatID string `path:"chatId" doc:"The chat: a phone number with country code, a chat ID or a LID." example:"5511988887766"`

	with gateway.Recipient
}

// Resolve reads the chat and the label.
func (p *ChatLabelPath) Resolve(ctx huma.Context) []error {
	errs := p.LabelID.Resolve(ctx)
	with, err := gateway.ParseRecipient(p.ChatID)
	if err != nil {
		return append(errs, contract.Wrong("chatId", err.Error())...)
	}
	p.with = with
	return errs
}

func (r labels) onChat() contract.Pair {
	return contract.Switch(contract.Operation{Tag: tagLabels, Codes: labelCodes(gateway.CodeChatNotFound)},
		contract.Named{ID: "labelChat", Summary: "Label a chat", Description: "Puts a label on a chat. A chat that has it already stays as it is."},
		contract.Named{ID: "unlabelChat", Summary: "Take a label from a chat", Description: "Takes a label from a chat. A chat without it stays as it is."},
		func(ctx context.Context, in *ChatLabelPath, on bool) error {
			return r.use.AssignToChat(ctx, contract.Instance(ctx).ID, in.LabelID.LabelID, in.with, on)
		})
}

// MessageLabelPath is the path of a label on a message.
type MessageLabelPath struct {
	LabelPath

	MessageID string `path:"messageId" doc:"The message: its platform identifier, the composite form, or the id of a send result." example:"3EB0C431C26A1916E07A"`
}

// Resolve refuses texts that can't be identifiers.
func (p *MessageLabelPath) Resolve(ctx huma.Context) []error {
	return append(p.LabelID.Resolve(ctx), checkSegment("messageId", p.MessageID)...)
}

func (r labels) onMessage() contract.Pair {
	return contract.Switch(contract.Operation{Tag: tagLabels, Codes: labelCodes(gateway.CodeMessageNotFound, gateway.CodeChatNotFound)},
		contract.Named{ID: "labelMessage", Summary: "Label a message", Description: "Puts a label on a message. A message that has it already stays as it is."},
		contract.Named{ID: "unlabelMessage", Summary: "Take a label from a message", Description: "Takes a label from a message. A message without it stays as it is."},
		func(ctx context.Context, in *MessageLabelPath, on bool) error {
			return r.use.AssignToMessage(ctx, contract.Instance(ctx).ID, in.LabelID.LabelID, gateway.ParseMessageRef(in.MessageID), on)
		})
}
