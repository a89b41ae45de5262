package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
)

// Directory are the use cases of numbers and people.
type Directory interface {
	People
	Budgets
}

// People are the use cases that ask the platform about somebody, or tell him something.
type People interface {
	CheckNumbers(ctx context.Context, instanceID string, numbers []string) ([]gateway.Registration, error)
	SendPresence(ctx context.Context, instanceID string, to gateway.Recipient, presence gateway.Presence) error
	ProfilePicture(ctx context.Context, instanceID string, of gateway.Recipient) (string, error)
	Block(ctx context.Context, instanceID string, who gateway.Recipient, blocked bool) error
}

// people is the resource of numbers and people.
type people struct{ directory People }

// ContactPath is the path of every operation on a contact.
type ContactPath struct {
	contract.InstancePath

	Phone string `path:"phone" doc:"A phone number with country code, a Brazilian mobile number of 11 digits, or a chat ID." example:"5511988887766"`

	contact gateway.Recipient
}

// Resolve reads the contact.
func (p *ContactPath) Resolve(huma.Context) []error {
	contact, err := gateway.ParseRecipient(p.Phone)
	if err != nil {
		return contract.Wrong("phone", err.Error())
	}
	if contact.Chat.IsChannel() {
		return contract.Wrong("phone", "must be a person or a group: GET …/channels/{channelId} shows the picture of a channel")
	}
	p.contact = contact
	return nil
}

// PersonPath is the path of the operations on a contact that is a person.
type PersonPath struct {
	ContactPath
}

// Resolve reads the contact, and refuses a group.
func (p *PersonPath) Resolve(ctx huma.Context) []error {
	if errs := p.ContactPath.Resolve(ctx); errs != nil {
		return errs
	}
	if !p.contact.IsPerson() {
		return contract.Wrong("phone", "must be a person: a group can't be blocked")
	}
	return nil
}

// Picture is the picture of a contact.
type Picture struct {
	URL *string `json:"url" nullable:"true" doc:"Null if there is no picture or this account may not see it." example:"https://pps.example/v/t61/picture.jpg"`
}

func (p people) profilePicture() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getProfilePicture", Tag: tagDirectory,
		Summary: "Get a profile picture", Description: "Returns the URL of the picture of a person or group, if this account may see it.",
		Codes: append(sessionCodes(), gateway.CodeValidation),
	}, func(ctx context.Context, in *ContactPath) (*contract.Answer[Picture], error) {
		url, err := p.directory.ProfilePicture(ctx, contract.Instance(ctx).ID, in.contact)
		if err != nil {
			return nil, err
		}
		return &contract.Answer[Picture]{Body: Picture{URL: contract.TextOrNil(url)}}, nil
	})
}

func (p people) block() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "blockContact", Tag: tagDirectory,
		Summary:     "Block a contact",
		Description: "The contact can't write to this account any more. Blocking a blocked contact changes nothing.",
		Status:      http.StatusNoContent,
		Codes:       append(sessionCodes(), gateway.CodeValidation, gateway.CodeNotRegistered, gateway.CodeBlockRefused),
	}, func(ctx context.Context, in *PersonPath) (*struct{}, error) {
		return nil, p.directory.Block(ctx, contract.Instance(ctx).ID, in.contact, true)
	})
}

func (p people) unblock() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "unblockContact", Tag: tagDirectory,
		Summary:     "Unblock a contact",
		Description: "The contact can write to this account again. Unblocking a contact who is not blocked changes nothing.",
		Status:      http.StatusNoContent,
		Codes:       append(sessionCodes(), gateway.CodeValidation, gateway.CodeNotRegistered, gateway.CodeBlockRefused),
	}, func(ctx context.Context, in *PersonPath) (*struct{}, error) {
		return nil, p.directory.Block(ctx, contract.Instance(ctx).ID, in.contact, false)
	})
}
