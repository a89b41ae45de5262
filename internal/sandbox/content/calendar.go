// Calendar events, and the responses to them, which only those who have the event can read.

package content

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"time"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/sandbox/refusal"
)

const (
	responsePurpose = "Event Response"
	editPurpose     = "Event Edit"
)

// Event is a calendar event. Its name is the text of its message.
type Event struct {
	Description        string `json:"description"`
	Start              string `json:"start"` // ISO 8601
	End                string `json:"end"`   // ISO 8601; "" where it is open
	Location           *Place `json:"location"`
	JoinLink           string `json:"joinLink"`
	Cancelled          bool   `json:"cancelled"`
	ExtraGuestsAllowed bool   `json:"extraGuestsAllowed"`
}

// Place is where a calendar event takes place.
type Place struct {
	Name      string   `json:"name"`
	Address   string   `json:"address"`
	Latitude  *float64 `json:"latitude"` // null where the place is not on the map
	Longitude *float64 `json:"longitude"`
}

// Response is somebody's response to a calendar event.
type Response struct {
	From        string `json:"from"`
	Response    string `json:"response"` // going, not_going or maybe
	ExtraGuests int    `json:"extraGuests"`
}

// responseKinds are the words for responses, as the wire has them.
func responseKinds() map[string]waE2E.EventResponseMessage_EventResponseType {
	return map[string]waE2E.EventResponseMessage_EventResponseType{
		"going": waE2E.EventResponseMessage_GOING, "not_going": waE2E.EventResponseMessage_NOT_GOING, "maybe": waE2E.EventResponseMessage_MAYBE,
	}
}

// composeEvent builds a calendar event.
func composeEvent(m Outgoing, reply *waE2E.ContextInfo) (*waE2E.Message, error) {
	if m.Text == "" {
		return nil, refusal.Invalidf("text", "must not be empty")
	}
	if m.Event == nil {
		return nil, refusal.Invalidf("event", "is required")
	}
	start, err := time.Parse(time.RFC3339, m.Event.Start)
	if err != nil {
		return nil, refusal.Invalidf("event.start", "must be a time in ISO 8601")
	}
	event := &waE2E.EventMessage{
		ContextInfo: reply, Name: &m.Text, Description: optional(m.Event.Description), JoinLink: optional(m.Event.JoinLink),
		StartTime: new(start.Unix()), IsCanceled: &m.Event.Cancelled, ExtraGuestsAllowed: &m.Event.ExtraGuestsAllowed,
	}
	if m.Event.End != "" {
		end, err := time.Parse(time.RFC3339, m.Event.End)
		if err != nil {
			return nil, refusal.Invalidf("event.end", "must be a time in ISO 8601")
		}
		event.EndTime = new(end.Unix())
	}
	if place := m.Event.Location; place != nil {
		event.Location = &waE2E.LocationMessage{
			Name: optional(place.Name), Address: optional(place.Address), DegreesLatitude: place.Latitude, DegreesLongitude: place.Longitude,
		}
	}
	secret := make([]byte, secretBytes)
	rand.Read(secret)
	return &waE2E.Message{EventMessage: event, MessageContextInfo: &waE2E.MessageContextInfo{MessageSecret: secret}}, nil
}

// eventOf returns what a phone shows of a calendar event.
func eventOf(event *waE2E.EventMessage) *Event {
	shown := &Event{
		Description: event.GetDescription(), Start: shownTime(event.GetStartTime()), End: shownTime(event.GetEndTime()),
		JoinLink: event.GetJoinLink(), Cancelled: event.GetIsCanceled(), ExtraGuestsAllowed: event.GetExtraGuestsAllowed(),
	}
	if place := event.GetLocation(); place != nil {
		shown.Location = &Place{
			Name: place.GetName(), Address: place.GetAddress(), Latitude: place.DegreesLatitude, Longitude: place.DegreesLongitude,
		}
	}
	return shown
}

// shownTime is a time of an event, "" for none.
func shownTime(seconds int64) string {
	if seconds == 0 {
		return ""
	}
	return time.Unix(seconds, 0).UTC().Format(time.RFC3339)
}

// EventOf returns the calendar event of a message, and its secret; nil if the message is none.
func EventOf(m *waE2E.Message) (event *Event, secret []byte) {
	inner, _ := ViewOnce(Unwrap(m))
	if inner.GetEventMessage() == nil {
		return nil, nil
	}
	return eventOf(inner.GetEventMessage()), inner.GetMessageContextInfo().GetMessageSecret()
}

// CheckResponse refuses responses that phones do not offer, and guests where none may be brought.
func (e Event) CheckResponse(r Response) error {
	if _, known := responseKinds()[r.Response]; !known {
		return refusal.Invalidf("response", "must be one of going, not_going, maybe")
	}
	if e.Cancelled {
		return refusal.Invalidf("messageId", "the event was cancelled")
	}
	if r.ExtraGuests < 0 {
		return refusal.Invalidf("extraGuests", "must not be negative")
	}
	if r.ExtraGuests > 0 && !e.ExtraGuestsAllowed {
		return refusal.Invalidf("extraGuests", "are not allowed by the event")
	}
	return nil
}

// SealResponse encrypts a response to the event of the ballot.
func (b Ballot) SealResponse(r Response, now time.Time) (*waE2E.EncEventResponseMessage, error) {
	plain, err := proto.Marshal(&waE2E.EventResponseMessage{
		Response: responseKinds()[r.Response].Enum(), TimestampMS: new(now.UnixMilli()), ExtraGuestCount: new(int32(r.ExtraGuests)), //nolint:gosec // a test's number
	})
	if err != nil {
		return nil, fmt.Errorf("content: write a response: %w", err)
	}
	payload, iv, err := b.seal(responsePurpose, plain)
	if err != nil {
		return nil, err
	}
	return &waE2E.EncEventResponseMessage{EncPayload: payload, EncIV: iv}, nil
}

// OpenResponse decrypts a response. ok is false if it was made for something else, or by
// somebody else.
func (b Ballot) OpenResponse(sealed *waE2E.EncEventResponseMessage) (r Response, ok bool) {
	plain, ok := b.open(responsePurpose, sealed.GetEncPayload(), sealed.GetEncIV())
	if !ok {
		return Response{}, false
	}
	var opened waE2E.EventResponseMessage
	if err := proto.Unmarshal(plain, &opened); err != nil {
		return Response{}, false
	}
	for word, kind := range responseKinds() {
		if kind == opened.GetResponse() {
			return Response{Response: word, ExtraGuests: int(opened.GetExtraGuestCount())}, true
		}
	}
	return Response{}, false
}

// SealEventEdit encrypts the new content of the event of the ballot.
func (b Ballot) SealEventEdit(edited *waE2E.Message) (*waE2E.SecretEncryptedMessage, error) {
	plain, err := proto.Marshal(edited)
	if err != nil {
		return nil, fmt.Errorf("content: write an edit: %w", err)
	}
	payload, iv, err := b.seal(editPurpose, plain)
	if err != nil {
		return nil, err
	}
	return &waE2E.SecretEncryptedMessage{EncPayload: payload, EncIV: iv, SecretEncType: waE2E.SecretEncryptedMessage_EVENT_EDIT.Enum()}, nil
}

// SealCancellation makes the message that cancels the event of the ballot.
func (b Ballot) SealCancellation(event *waE2E.EventMessage, key *waCommon.MessageKey, now time.Time) (*waE2E.Message, error) {
	event.IsCanceled = new(true)
	sealed, err := b.SealEventEdit(&waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{
		Key: key, Type: waE2E.ProtocolMessage_MESSAGE_EDIT.Enum(),
		EditedMessage: &waE2E.Message{EventMessage: event}, TimestampMS: new(now.UnixMilli()),
	}})
	if err != nil {
		return nil, err
	}
	sealed.TargetMessageKey = key
	return &waE2E.Message{SecretEncryptedMessage: sealed}, nil
}

// OpenEventEdit decrypts the new content of an event. ok is false if it was made for something
// else, or by somebody else, or is no event.
func (b Ballot) OpenEventEdit(sealed *waE2E.SecretEncryptedMessage) (event *waE2E.EventMessage, ok bool) {
	plain, ok := b.open(editPurpose, sealed.GetEncPayload(), sealed.GetEncIV())
	if !ok {
		return nil, false
	}
	var edited waE2E.Message
	if err := proto.Unmarshal(plain, &edited); err != nil {
		return nil, false
	}
	inner := Unwrap(&edited)
	if changed := inner.GetProtocolMessage().GetEditedMessage(); changed != nil {
		inner = Unwrap(changed)
	}
	return inner.GetEventMessage(), inner.GetEventMessage() != nil
}

// AsVote is a response as it is kept, where a poll has its votes.
func (r Response) AsVote() []string { return []string{r.Response, strconv.Itoa(r.ExtraGuests)} }

// Responses reads the responses that are kept with a calendar event, in the order of who responded.
func Responses(kept string) ([]Response, error) {
	votes, err := Votes(kept)
	if err != nil {
		return nil, err
	}
	responses := []Response{}
	for _, vote := range votes {
		if len(vote.Options) != len(Response{}.AsVote()) {
			continue
		}
		guests, err := strconv.Atoi(vote.Options[1])
		if err != nil {
			return nil, fmt.Errorf("content: read responses: %w", err)
		}
		responses = append(responses, Response{From: vote.From, Response: vote.Options[0], ExtraGuests: guests})
	}
	return responses, nil
}
