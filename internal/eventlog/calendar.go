// Calendar events in messages, and the responses to them.

package eventlog

import "github.com/recado-project/recado/internal/gateway"

// KindMessageEventResponse is of responses to calendar events.
const KindMessageEventResponse Kind = "message.event_response"

// MessageCalendarEvent is an appointment that people can put into their calendars.
type MessageCalendarEvent struct {
	Start              *Time              `json:"start" doc:"When it begins; null where its author has given no time that can be."`
	End                *Time              `json:"end" doc:"When it ends; null where that is open."`
	Description        *string            `json:"description" doc:"What its author says of it."`
	Location           *MessageEventPlace `json:"location" doc:"Where it takes place; null where that is not given."`
	JoinLink           *string            `json:"joinLink" doc:"The link to its call or meeting, as its author has written it."`
	Cancelled          bool               `json:"cancelled" doc:"Whether it was cancelled."`
	ExtraGuestsAllowed bool               `json:"extraGuestsAllowed" doc:"Whether people may bring others."`
}

// MessageEventPlace is where a calendar event takes place.
type MessageEventPlace struct {
	Name      *string  `json:"name" doc:"The name of the place."`
	Address   *string  `json:"address" doc:"The address of the place."`
	Latitude  *float64 `json:"latitude" doc:"In degrees; null where the place is not on the map."`
	Longitude *float64 `json:"longitude" doc:"In degrees; null where the place is not on the map."`
}

// NewCalendarEvent makes what events show of a calendar event; nil for none.
func NewCalendarEvent(event *gateway.CalendarEvent) *MessageCalendarEvent {
	if event == nil {
		return nil
	}
	shown := &MessageCalendarEvent{
		Start: TimeOrNull(event.Start), End: TimeOrNull(event.End), Description: orNull(event.Description), JoinLink: orNull(event.JoinLink),
		Cancelled: event.Cancelled, ExtraGuestsAllowed: event.ExtraGuestsAllowed,
	}
	if place := event.Place; place != nil {
		shown.Location = &MessageEventPlace{
			Name: orNull(place.Name), Address: orNull(place.Address), Latitude: place.Latitude, Longitude: place.Longitude,
		}
	}
	return shown
}

// MessageEventResponse reports that somebody responded to a calendar event.
type MessageEventResponse struct {
	MessageID string `json:"messageId" doc:"The platform's identifier of the calendar event."`
	ID        string `json:"id" doc:"The calendar event's internal UUID."`
	Chat
	From        *Person `json:"from" doc:"Who responded."`
	Name        string  `json:"name" doc:"The calendar event's name."`
	Response    string  `json:"response" words:"going,not_going,maybe" doc:"going, not_going or maybe. It replaces an earlier response of the same person."`
	ExtraGuests int     `json:"extraGuests" doc:"How many others this person brings along; 0 where the calendar event does not allow any."`
}

// NewMessageEventResponse makes the data of a response to the calendar event of a message.
func NewMessageEventResponse(message gateway.Message, response gateway.EventResponse) MessageEventResponse {
	return MessageEventResponse{
		MessageID: response.EventID, ID: message.ID, Chat: NewChat(response.Chat), From: NewPerson(response.By),
		Name: message.Text, Response: response.Response, ExtraGuests: response.ExtraGuests,
	}
}

// Kind is message.event_response.
func (MessageEventResponse) Kind() Kind { return KindMessageEventResponse }
