package api

import (
	"context"

	"github.com/recado-project/recado/internal/gateway"
)

type locationBody struct {
	Addressee

	Latitude  float64 `json:"latitude" minimum:"-90" maximum:"90" doc:"Degrees north." example:"-23.561414"`
	Longitude float64 `json:"longitude" minimum:"-180" maximum:"180" doc:"Degrees east." example:"-46.655881"`
	Name      string  `json:"name,omitempty" maxLength:"1024" doc:"What the place is called." example:"Our shop"`
	Address   string  `json:"address,omitempty" maxLength:"1024" doc:"Where it is, for people." example:"Avenida Paulista 1578, São Paulo"`
}

func (s *service) sendLocation(ctx context.Context, in *sendInput[locationBody]) (*sentAnswer, error) {
	request, err := newRequest(ctx, in, in.Given().To, "")
	if err != nil {
		return nil, err
	}
	return newSentAnswer(s.Messages.SendLocation(ctx, request, gateway.Location{
		Latitude: in.Given().Latitude, Longitude: in.Given().Longitude, Name: in.Given().Name, Address: in.Given().Address,
	}))
}
