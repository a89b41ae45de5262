// The operation that sends a contact card.

package api

import (
	"context"
	"errors"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging"
)

type cardBody struct {
	Addressee

	Contact Card `json:"contact" doc:"The contact on the card."`

	Schedule
}

// Card is the content of a contact card.
type Card struct {
	FullName     string `json:"fullName" minLength:"1" maxLength:"1024" doc:"The contact's name." example:"Ana Souza"`
	PhoneNumber  string `json:"phoneNumber" minLength:"1" format:"phone" doc:"The contact's number, with country code." example:"5511977776655"`
	Organization string `json:"organization,omitempty" maxLength:"1024" doc:"Where the contact works." example:"Shop Ltda."`
}

func (s sending) contact() contract.Endpoint {
	return handleSend(contract.Operation{
		ID: "sendContact", Summary: "Send a contact card",
		Description: "The recipient can save the contact and write to it. ",
	}, func(ctx context.Context, in *sendInput[cardBody]) (messaging.Result, error) {
		given := in.Given()
		request, err := newRequest(ctx, in, given.To, "", given.SendAt)
		if err != nil {
			return messaging.Result{}, err
		}
		number, ok := gateway.ParseNumber(given.Contact.PhoneNumber)
		if !ok {
			return messaging.Result{}, errors.New("api: the contact's number was checked")
		}
		return s.use.SendContact(ctx, request, gateway.ContactCard{
			FullName: given.Contact.FullName, PhoneNumber: number, Organization: given.Contact.Organization,
		})
	})
}
