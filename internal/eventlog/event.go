package eventlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/clock"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/trace"
)

// Event is one thing that happened in an instance.
type Event struct {
	InstanceID string
	// Sequence numbers the events of an instance from 1, without a gap. It is
	// given when the event is appended.
	Sequence int64
	ID       string // UUID v7; the same on every delivery
	Kind     Kind
	// Chat is the order key: the events of one chat are delivered in their order. It
	// is empty for events that belong to no chat.
	Chat gateway.JID
	// SourceKey identifies what happened, so that appending it again has no effect.
	// It is unique in the instance for as long as the event is kept. It is empty for what
	// can't be appended again.
	SourceKey string
	At        time.Time // when it happened
	Data      []byte    // JSON, one of the types of this package
	// Trace is what caused it, for as long as the event is in memory; nil where that is not
	// known, and without traces.
	Trace *trace.Link
}

// NewEvent makes an event of the kind that data's type stands for. An empty sourceKey
// means that it can't be appended twice: it can't happen twice, or what is written in the
// same transaction rules it out. Its error is gateway.ErrUnstorable where JSON can't
// represent the data.
func NewEvent(instanceID string, chat gateway.JID, sourceKey string, at time.Time, data Data) (Event, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return Event{}, fmt.Errorf("eventlog: choose event id: %w", err)
	}
	encoded, err := json.Marshal(data)
	if err != nil {
		return Event{}, fmt.Errorf("%w: eventlog: encode %s: %w", gateway.ErrUnstorable, data.Kind(), err)
	}
	return Event{
		InstanceID: instanceID, ID: id.String(), Kind: data.Kind(), Chat: chat,
		SourceKey: sourceKey, At: at.UTC(), Data: encoded,
	}, nil
}

// MediaLink is a link to the file of an event's message, for whoever wants one.
type MediaLink struct {
	URL       string `json:"url" doc:"The link. It needs no API key and works until it expires or the message is deleted."`
	ExpiresAt Time   `json:"expiresAt" doc:"When it stops working."`
}

// Envelope returns the event as it is delivered, the same bytes every time.
func (e Event) Envelope() []byte { return append(e.envelope(), '}') }

// EnvelopeWith returns the event with a link to the file of its message.
func (e Event) EnvelopeWith(link MediaLink) []byte {
	body := bytes.NewBuffer(append(e.envelope(), `,"mediaLink":`...))
	encoder := json.NewEncoder(body)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(link) // a text and a time can always be written
	return append(bytes.TrimSuffix(body.Bytes(), []byte{'\n'}), '}')
}

// envelope is without its end. It is made for every delivery, so nothing of it goes through fmt. Its
// texts are identifiers and kinds, which need no escaping.
func (e Event) envelope() []byte {
	body := make([]byte, 0, len(e.Data)+256)
	body = append(append(body, `{"id":"`...), e.ID...)
	body = append(append(body, `","type":"`...), e.Kind...)
	body = clock.AppendSpelled(append(body, `","timestamp":"`...), e.At)
	body = append(append(body, `","instanceId":"`...), e.InstanceID...)
	body = strconv.AppendInt(append(body, `","sequence":`...), e.Sequence, 10)
	return append(append(body, `,"data":`...), e.Data...)
}

// Time is a time as events spell it (clock.Layout).
type Time time.Time

// MarshalText spells the time. What it returns is not checked once more, as JSON would be.
func (t Time) MarshalText() ([]byte, error) {
	return clock.AppendSpelled(make([]byte, 0, len(clock.Layout)), time.Time(t)), nil
}

// TimeOrNull is the time for a field that is null where there is none.
func TimeOrNull(t time.Time) *Time {
	if t.IsZero() {
		return nil
	}
	return new(Time(t))
}

// orNull is the text for a field that is null where there is none.
func orNull[T ~string](text T) *string {
	if text == "" {
		return nil
	}
	return new(string(text))
}

// texts are the texts for a field that is a list, and never null.
func texts[T ~string](list []T) []string {
	all := make([]string, len(list))
	for n, text := range list {
		all[n] = string(text)
	}
	return all
}

// Person is somebody under both addresses; what is unknown is null.
type Person struct {
	JID  *string `json:"jid" doc:"The chat ID by number; null where the number is not known."`
	LID  *string `json:"lid" doc:"The LID; null where it is not known."`
	Name *string `json:"name" doc:"The name that the person goes by; null where it is not known."`
}

// NewPerson makes the person of a party, null where it is nobody.
func NewPerson(party gateway.Party) *Person {
	if party == (gateway.Party{}) {
		return nil
	}
	return &Person{JID: orNull(party.JID), LID: orNull(party.LID), Name: orNull(party.Name)}
}

// newPersons makes the people of parties; an empty list where there are none.
func newPersons(parties []gateway.Party) []*Person {
	persons := make([]*Person, 0, len(parties))
	for _, party := range parties {
		persons = append(persons, NewPerson(party))
	}
	return persons
}

// Chat names a chat under both addresses.
type Chat struct {
	Chat    string  `json:"chat" doc:"The chat: by number where the number is known, else by LID; the group's ID for a group."`
	ChatLID *string `json:"chatLid" doc:"The chat's LID; null for a group, and where it is not known."`
}

// NewChat names the chat of a party.
func NewChat(party gateway.Party) Chat {
	return Chat{Chat: string(party.Address()), ChatLID: orNull(party.LID)}
}
