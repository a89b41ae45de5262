package messaging

import (
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

// advance moves a message of this account to a status, if that is a later one, and returns
// the events of it. The event that it was sent comes before all others: the receipt may be
// faster than the platform's acknowledgement. A status that was reached before has no
// event, except for a participant of a group: there everybody's receipt counts.
func (r *reporter) advance(
	message *gateway.Message, to gateway.MessageStatus, participant gateway.Party, at time.Time, d *descriptions,
) ([]eventlog.Event, error) {
	moved := message.Status < to
	if !moved && participant == (gateway.Party{}) {
		return nil, nil
	}
	var events []eventlog.Event
	if message.Status < gateway.MessageSent && message.Source == gateway.SourceAPI {
		event, err := r.sentEvent(*message, d)
		if err != nil {
			return nil, err
		}
		events = append(events, event)
	}
	reached := *message
	reached.Status, reached.StatusAt = to, at
	event, err := statusEvent(reached, participant)
	if err != nil {
		return nil, err
	}
	if moved {
		message.Status, message.StatusAt = to, at
	}
	return append(events, event), nil
}

// failureEvent is the event of a message that was not sent. why is nil if nobody knows.
func failureEvent(message gateway.Message, why error) (eventlog.Event, error) {
	data := statusData(message, gateway.Party{})
	if refusal, ok := gateway.AsError(why); ok {
		data.Failure = &eventlog.Failure{Code: refusal.Code, Message: refusal.Message}
	}
	return eventlog.NewEvent(message.InstanceID, message.Chat.Key(), "", message.StatusAt, data)
}

// statusEvent is the event of a message that reached its status. participant is the
// member of a group who sent the receipt; empty outside of groups.
func statusEvent(message gateway.Message, participant gateway.Party) (eventlog.Event, error) {
	data := statusData(message, participant)
	subject := message.PlatformID
	if message.ID != "" {
		subject = message.ID
	}
	key := "status/" + subject + "/" + message.Status.String() + "/" + string(participant.Key())
	if message.ID != "" && participant == (gateway.Party{}) {
		// The status of the message is written in the same transaction, and only moves
		// forward. A key would be one more page of the database for each event.
		key = ""
	}
	return eventlog.NewEvent(message.InstanceID, message.Chat.Key(), key, message.StatusAt, data)
}

func statusData(message gateway.Message, participant gateway.Party) eventlog.MessageStatus {
	data := eventlog.MessageStatus{
		MessageID: message.PlatformID, Chat: eventlog.NewChat(message.Chat), Status: message.Status.String(),
		Participant: eventlog.NewPerson(participant), Timestamp: eventlog.Time(message.StatusAt), ClientData: message.ClientData,
	}
	if message.ID != "" {
		data.ID = &message.ID
	}
	return data
}
