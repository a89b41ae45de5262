package eventlog

import (
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// Time is a time as events spell it: ISO 8601 in UTC with milliseconds.
type Time time.Time

// MarshalJSON spells the time.
func (t Time) MarshalJSON() ([]byte, error) {
	return time.Time(t).UTC().AppendFormat(nil, `"`+timeFormat+`"`), nil
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
