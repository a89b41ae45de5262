package hostile_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/sandbox/content"
)

// respond has a phone send a response to the calendar event with an identifier, encrypted as the
// ballot says.
func (f *forger) respond(by, eventID string, ballot content.Ballot, response content.Response) {
	f.t.Helper()
	sealed, err := ballot.SealResponse(response, time.Now())
	if err != nil {
		f.t.Fatal(err)
	}
	sealed.EventCreationMessageKey = &waCommon.MessageKey{RemoteJID: new(f.lid(shopNumber).String()), FromMe: new(false), ID: &eventID}
	f.Phones.SendRaw(f.t, by, shopNumber, mustMarshal(f.t, &waE2E.Message{EncEventResponseMessage: sealed}), nil)
}

// responsesIn are the responses that events report.
func responsesIn(t *testing.T, events []client.Event) (responses []client.MessageEventResponseEvent) {
	t.Helper()
	for _, event := range events {
		if event.Type != client.TypeMessageEventResponse {
			continue
		}
		var response client.MessageEventResponseEvent
		if err := json.Unmarshal(event.Data, &response); err != nil {
			t.Fatal(err)
		}
		responses = append(responses, response)
	}
	return responses
}

// Nobody responds to a calendar event in somebody else's name or without having it, and nobody
// else than its author edits it.
func TestForgedResponses(t *testing.T) {
	t.Parallel()
	b := besiege(t, "")
	sent, err := b.Client.SendEvent(t.Context(), b.id, client.CalendarEvent{To: customerNumber, Name: "Lunch", Start: time.Unix(1_900_000_000, 0)})
	if err != nil {
		t.Fatal(err)
	}
	f := b.forger(t, sent, func(m *waE2E.Message) []byte { _, secret := content.EventOf(m); return secret })
	right, guessed := f.ballot(customerNumber), f.ballot(customerNumber)
	guessed.Secret = []byte("a guess")
	going := content.Response{Response: "going"}
	f.respond(customerNumber, f.pollID, f.ballot(stranger), going) // in another name
	f.respond(stranger, f.pollID, f.ballot(stranger), going)       // from another chat
	f.respond(customerNumber, f.pollID, guessed, going)
	f.respond(customerNumber, "3EB0NOTHING", right, going)
	f.respond(customerNumber, f.pollID, right, content.Response{Response: "unknown"})
	b.Phones.SendRaw(t, customerNumber, shopNumber, mustMarshal(t, &waE2E.Message{EncEventResponseMessage: &waE2E.EncEventResponseMessage{
		EventCreationMessageKey: &waCommon.MessageKey{RemoteJID: new("\x00"), ID: &f.pollID}, EncIV: []byte{1}, EncPayload: []byte{2},
	}}), nil)
	edit, err := right.SealEventEdit(&waE2E.Message{EventMessage: &waE2E.EventMessage{Name: new("Dinner"), IsCanceled: new(true)}})
	if err != nil {
		t.Fatal(err)
	}
	edit.TargetMessageKey = &waCommon.MessageKey{RemoteJID: new(f.lid(shopNumber).String()), FromMe: new(false), ID: &f.pollID}
	b.Phones.SendRaw(t, customerNumber, shopNumber, mustMarshal(t, &waE2E.Message{SecretEncryptedMessage: edit}), nil)
	events := b.unharmed(t)
	if responses := responsesIn(t, events); len(responses) > 0 {
		t.Errorf("forged responses are reported: %v", responses)
	}
	if now, err := b.Client.GetMessage(t.Context(), b.id, sent.ID); err != nil || now.Event == nil || now.Event.Cancelled || *now.Caption != "Lunch" || countEvents(events, "message.edited", f.pollID) > 0 {
		t.Errorf("somebody else edited it to %+v (%v)", now, err)
	}
	// The event allows no guests.
	f.respond(customerNumber, f.pollID, right, content.Response{Response: "going", ExtraGuests: math.MaxInt32})
	if responses := responsesIn(t, b.unharmed(t)); len(responses) != 1 || responses[0].Response != client.ResponseGoing || responses[0].ExtraGuests != 0 {
		t.Errorf("reported are %+v", responses)
	}
}

// A calendar event at times that can't be, with endless texts, arrives with what of it can be shown.
func TestMonstrousCalendarEvents(t *testing.T) {
	t.Parallel()
	b := besiege(t, "")
	for _, at := range []int64{0, -1, math.MinInt64, math.MaxInt64, 253_402_300_800, 1_900_000_000} {
		id := b.Phones.SendRaw(t, stranger, shopNumber, mustMarshal(t, &waE2E.Message{EventMessage: &waE2E.EventMessage{
			Name: new("a\x00b"), Description: new(strings.Repeat("\u202e", 200_000)), StartTime: &at, EndTime: new(-at), JoinLink: new("javascript:" + strings.Repeat("x", 100_000)),
			Location: &waE2E.LocationMessage{Name: new("p\x00"), DegreesLatitude: new(math.NaN()), DegreesLongitude: new(math.Inf(1))},
		}}), nil)
		b.unharmed(t)
		message, err := b.Client.GetMessage(t.Context(), b.id, id)
		if err != nil || message.Event == nil || len(*message.Event.JoinLink) > 2048 || (message.Event.Start != nil) != (at == 1_900_000_000) || strings.ContainsRune(*message.Caption, 0) {
			t.Errorf("at %d it is %.300v (%v)", at, message.Event, err)
		}
	}
}
