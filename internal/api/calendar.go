// The operations that send and cancel calendar events.

package api

import (
	"context"
	"net/http"
	"time"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging"
)

type eventBody struct {
	Addressee

	Name               string         `json:"name" minLength:"1" maxLength:"255" doc:"What it is called." example:"Dental check-up"`
	Start              time.Time      `json:"start" doc:"When it begins: ISO 8601 with an offset, from 2000 to 2099. Phones show it in their own time zone." example:"2031-05-06T10:00:00-03:00"`
	End                *time.Time     `json:"end,omitempty" doc:"When it ends, after it begins. If left out, that is open." example:"2031-05-06T10:30:00-03:00"`
	Description        string         `json:"description,omitempty" maxLength:"2048" doc:"What else people should know." example:"Bring your papers."`
	Location           *CalendarPlace `json:"location,omitempty" doc:"Where it takes place."`
	JoinLink           string         `json:"joinLink,omitempty" maxLength:"2048" doc:"A link to its call or meeting: http or https." example:"https://meet.example.com/room"`
	ExtraGuestsAllowed bool           `json:"extraGuestsAllowed,omitempty" default:"false" doc:"Whether people may bring others."`

	Reply
	Schedule
}

// CalendarPlace is where a calendar event takes place.
type CalendarPlace struct {
	Name      string   `json:"name" minLength:"1" maxLength:"1024" doc:"Name of the place." example:"Our clinic"`
	Address   string   `json:"address,omitempty" maxLength:"1024" doc:"Address of the place." example:"Avenida Paulista 1578, São Paulo"`
	Latitude  *float64 `json:"latitude,omitempty" minimum:"-90" maximum:"90" doc:"Degrees north; together with longitude." example:"-23.561414"`
	Longitude *float64 `json:"longitude,omitempty" minimum:"-180" maximum:"180" doc:"Degrees east; together with latitude." example:"-46.655881"`
}

// The first and the last year in which a calendar event can be: phones show others wrong.
const (
	firstYear = 2000
	lastYear  = 2099
)

// event reads a calendar event, and refuses what phones would not show.
func (b eventBody) event() (gateway.CalendarEvent, error) {
	event := gateway.CalendarEvent{
		Description: b.Description, Start: b.Start, JoinLink: b.JoinLink, ExtraGuestsAllowed: b.ExtraGuestsAllowed,
	}
	var wrong []gateway.FieldError
	refuse := func(field, message string) { wrong = append(wrong, gateway.FieldError{Field: field, Message: message}) }
	if outside(event.Start) {
		refuse("start", "must be in the years from 2000 to 2099")
	}
	if b.End != nil {
		event.End = *b.End
		switch {
		case outside(event.End):
			refuse("end", "must be in the years from 2000 to 2099")
		case event.End.Unix() <= event.Start.Unix(): // the platform counts in seconds
			refuse("end", "must be after start")
		}
	}
	if link, ok := gateway.ParseURL(b.JoinLink); ok {
		event.JoinLink = link.String()
	} else if b.JoinLink != "" {
		refuse("joinLink", "must be an http or https URL")
	}
	if place := b.Location; place != nil {
		if (place.Latitude == nil) != (place.Longitude == nil) {
			refuse("location", "must have both latitude and longitude, or none of them")
		}
		event.Place = &gateway.EventPlace{Name: place.Name, Address: place.Address, Latitude: place.Latitude, Longitude: place.Longitude}
	}
	if len(wrong) > 0 {
		return gateway.CalendarEvent{}, gateway.InvalidFields(wrong...)
	}
	return event, nil
}

func outside(at time.Time) bool { return at.UTC().Year() < firstYear || at.UTC().Year() > lastYear }

func (s sending) event() contract.Endpoint {
	return handleSend(contract.Operation{
		ID: "sendEvent", Summary: "Send a calendar event",
		Description: "People can put it into their calendars, and respond to it: the event message.event_response tells who comes. ",
		Codes:       []string{gateway.CodeMessageNotFound},
	}, func(ctx context.Context, in *sendInput[eventBody]) (messaging.Result, error) {
		given := in.Given()
		event, err := given.event()
		if err != nil {
			return messaging.Result{}, err
		}
		request, err := newRequest(ctx, in, given.To, given.QuoteMessageID, given.SendAt)
		if err != nil {
			return messaging.Result{}, err
		}
		return s.use.SendEvent(ctx, request, given.Name, event)
	})
}

func (m messages) cancelEvent() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "cancelEvent", Tag: tagMessages,
		Summary: "Cancel a calendar event",
		Description: "Cancels, for everybody who has it, a calendar event that this instance sent; phones still show it, as cancelled. One that is cancelled " +
			"already stays so.",
		Status: http.StatusNoContent,
		Codes:  messageCodes(gateway.CodeMessageIsNoEvent, gateway.CodeMessageNotEditable),
	}, func(ctx context.Context, in *messagePath) (*struct{}, error) {
		return nil, m.use.CancelEvent(ctx, contract.Instance(ctx).ID, messageRef(in.MessageID))
	})
}
