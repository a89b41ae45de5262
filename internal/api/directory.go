package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/body"
	"github.com/recado-project/recado/internal/gateway"
)

// ContactPath is the path of every operation on a contact.
type ContactPath struct {
	InstancePath

	Phone string `path:"phone" doc:"A phone number with country code, a Brazilian mobile number of 11 digits, or a chat ID." example:"5511988887766"`

	contact gateway.Recipient
}

// Resolve reads the contact.
func (p *ContactPath) Resolve(huma.Context) []error {
	contact, err := gateway.ParseRecipient(p.Phone)
	if err != nil {
		return []error{body.Wrong("phone", err.Error())}
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
	if p.contact.Chat.IsGroup() {
		return []error{body.Wrong("phone", "must be a person: a group can't be blocked")}
	}
	return nil
}

// Picture is where the picture of a contact is.
type Picture struct {
	URL *string `json:"url" nullable:"true" doc:"Null where there is no picture, or it is not shown to this account." example:"https://pps.example/v/t61/picture.jpg"`
}

func (s *service) registerDirectory() {
	s.registerNumbers()
	s.registerPresence()
	register(s, operation{
		id: "getProfilePicture", method: http.MethodGet, path: "/api/instances/{instanceId}/contacts/{phone}/profile-picture", tag: tagDirectory,
		summary: "Get a profile picture", description: "Answers where the picture of a person or group is, as far as it is shown to this account.",
		codes: append(sessionCodes(), gateway.CodeValidation),
	}, s.profilePicture)
	register(s, operation{
		id: "blockContact", method: http.MethodPost, path: "/api/instances/{instanceId}/contacts/{phone}/block", tag: tagDirectory,
		summary:     "Block a contact",
		description: "The contact can't write to this account any more. Blocking somebody who is blocked changes nothing.",
		status:      http.StatusNoContent,
		codes:       append(sessionCodes(), gateway.CodeValidation, gateway.CodeNotRegistered),
	}, s.block)
	register(s, operation{
		id: "unblockContact", method: http.MethodDelete, path: "/api/instances/{instanceId}/contacts/{phone}/block", tag: tagDirectory,
		summary:     "Unblock a contact",
		description: "The contact can write to this account again. Unblocking somebody who is not blocked changes nothing.",
		status:      http.StatusNoContent,
		codes:       append(sessionCodes(), gateway.CodeValidation, gateway.CodeNotRegistered),
	}, s.unblock)
	s.registerGroups()
}

func (s *service) profilePicture(ctx context.Context, in *ContactPath) (*answer[Picture], error) {
	url, err := s.Directory.ProfilePicture(ctx, exchangeOf(ctx).instance.ID, in.contact)
	if err != nil {
		return nil, err
	}
	return &answer[Picture]{Picture{URL: textOrNil(url)}}, nil
}

func (s *service) block(ctx context.Context, in *PersonPath) (*struct{}, error) {
	return nil, s.Directory.Block(ctx, exchangeOf(ctx).instance.ID, in.contact, true)
}

func (s *service) unblock(ctx context.Context, in *PersonPath) (*struct{}, error) {
	return nil, s.Directory.Block(ctx, exchangeOf(ctx).instance.ID, in.contact, false)
}

// textOrNil is the text for a field that is null where there is none.
func textOrNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
