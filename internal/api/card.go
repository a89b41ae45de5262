package api

import (
	"context"
	"errors"

	"github.com/recado-project/recado/internal/gateway"
)

type cardBody struct {
	Addressee

	Contact Card `json:"contact" doc:"Whose card it is."`
}

// Card is what a contact card says.
type Card struct {
	FullName     string `json:"fullName" minLength:"1" maxLength:"1024" doc:"The contact's name." example:"Ana Souza"`
	PhoneNumber  string `json:"phoneNumber" minLength:"1" format:"phone" doc:"The contact's number, with country code." example:"5511977776655"`
	Organization string `json:"organization,omitempty" maxLength:"1024" doc:"Where the contact works." example:"Shop Ltda."`
}

func (s *service) sendContact(ctx context.Context, in *sendInput[cardBody]) (*sentAnswer, error) {
	request, err := newRequest(ctx, in, in.Given().To, "")
	if err != nil {
		return nil, err
	}
	card := in.Given().Contact
	number, ok := gateway.ParseNumber(card.PhoneNumber)
	if !ok {
		return nil, errors.New("api: the contact's number was checked")
	}
	return newSentAnswer(s.Messages.SendContact(ctx, request, gateway.ContactCard{
		FullName: card.FullName, PhoneNumber: number, Organization: card.Organization,
	}))
}
