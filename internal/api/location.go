// The operation that sends a location.

package api

import (
	"context"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging"
)

type locationBody struct {
	Addressee

	Latitude  float64 `json:"latitude" minimum:"-90" maximum:"90" doc:"Degrees north." example:"-23.561414"`
	Longitude float64 `json:"longitude" minimum:"-180" maximum:"180" doc:"Degrees east." example:"-46.655881"`
	Name      string  `json:"name,omitempty" maxLength:"1024" doc:"Name of the place." example:"Our shop"`
	Address   string  `json:"address,omitempty" maxLength:"1024" doc:"Address of the place." example:"Avenida Paulista 1578, São Paulo"`

	Schedule
}

func (s sending) location() contract.Endpoint {
	return handleSend(contract.Operation{
		ID: "sendLocation", Summary: "Send a location",
		Description: "The recipient sees a map. ",
	}, func(ctx context.Context, in *sendInput[locationBody]) (messaging.Result, error) {
		given := in.Given()
		request, err := newRequest(ctx, in, given.To, "", given.SendAt)
		if err != nil {
			return messaging.Result{}, err
		}
		return s.use.SendLocation(ctx, request, gateway.Location{
			Latitude: given.Latitude, Longitude: given.Longitude, Name: given.Name, Address: given.Address,
		})
	})
}
