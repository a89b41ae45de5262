package server_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit"
)

// awaitResponse waits for the event of somebody's response to a calendar event.
func awaitResponse(t *testing.T, sink *testkit.Sink, messageID, number, response string) client.MessageEventResponseEvent {
	t.Helper()
	var got client.MessageEventResponseEvent
	sink.AwaitType(client.TypeMessageEventResponse, func(d testkit.Delivered) bool {
		if err := json.Unmarshal(d.Event.Data, &got); err != nil {
			t.Error(err)
		}
		return got.MessageID == messageID && got.Response == response && got.From != nil && got.From.JID != nil && *got.From.JID == number+"@s.whatsapp.net"
	})
	return got
}

// awaitCancelled waits for the event that a calendar event was cancelled.
func awaitCancelled(t *testing.T, sink *testkit.Sink, messageID string) client.MessageEditedEvent {
	t.Helper()
	var got client.MessageEditedEvent
	sink.AwaitType(client.TypeMessageEdited, func(d testkit.Delivered) bool {
		if err := json.Unmarshal(d.Event.Data, &got); err != nil {
			t.Error(err)
		}
		return got.MessageID == messageID && got.Event != nil && got.Event.Cancelled
	})
	return got
}

// Calendar events are sent, at once and through the queue; people respond to them; and their
// authors cancel them.
func TestCalendarEvents(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	sink := pollVotes(t, g, id)
	start := time.Date(2031, 5, 6, 13, 0, 0, 0, time.UTC)
	event := client.CalendarEvent{
		To: customerNumber, Name: "Consulta", Start: start, End: start.Add(30 * time.Minute), Description: "Traga os exames", JoinLink: "https://example.com/sala",
		Location:           client.EventLocation{Name: "Clínica", Address: "Rua A, 1", Latitude: new(-23.5), Longitude: new(-46.6)},
		ExtraGuestsAllowed: true, IdempotencyKey: "consulta",
	}
	sent, err := g.Client.SendEvent(t.Context(), id, event)
	if err != nil {
		t.Fatal(err)
	}
	shown := g.Phones.AwaitMessage(t, customerNumber, sent.MessageID)
	if got := shown.Event; shown.Type != "event" || shown.Text != "Consulta" || got == nil || got.Start != "2031-05-06T13:00:00Z" || got.End != "2031-05-06T13:30:00Z" ||
		got.Description != "Traga os exames" || got.JoinLink != "https://example.com/sala" || !got.ExtraGuestsAllowed || got.Cancelled ||
		got.Location == nil || got.Location.Name != "Clínica" || got.Location.Address != "Rua A, 1" || got.Location.Latitude == nil || *got.Location.Latitude != -23.5 {
		t.Fatalf("the phone shows %+v with %+v", shown, got)
	}
	if again, err := g.Client.SendEvent(t.Context(), id, event); err != nil || !again.IdempotencyReplayed || again.ID != sent.ID {
		t.Errorf("repeated, it is %+v (%v)", again, err)
	}
	g.Phones.Respond(t, customerNumber, sent.MessageID, "going", 2)
	response := awaitResponse(t, sink, sent.MessageID, customerNumber, client.ResponseGoing)
	if response.ID != sent.ID || response.Name != "Consulta" || response.ExtraGuests != 2 {
		t.Errorf("the response is %+v", response)
	}
	g.Phones.Respond(t, customerNumber, sent.MessageID, "not_going", 0)
	awaitResponse(t, sink, sent.MessageID, customerNumber, client.ResponseNotGoing)

	for range 2 { // the second time changes nothing
		if err := g.Client.CancelEvent(t.Context(), id, sent.ID); err != nil {
			t.Fatal(err)
		}
	}
	if edited := awaitCancelled(t, sink, sent.MessageID); edited.Text != "Consulta" || edited.Event.Start == nil || !edited.Event.Start.Equal(start) {
		t.Errorf("cancelled is %+v", edited)
	}
	awaitOnPhone(t, g, customerNumber, sent.MessageID, "that it is cancelled", func(m testkit.PhoneMessage) bool { return m.Event.Cancelled && m.Event.Location.Name == "Clínica" })
	kept, err := g.Client.GetMessage(t.Context(), id, sent.ID)
	if err != nil || kept.Type != client.TypeEvent || kept.Event == nil || !kept.Event.Cancelled || kept.Caption == nil || *kept.Caption != "Consulta" {
		t.Errorf("kept is %+v (%v)", kept, err)
	}

	text := sendText(t, g, id, "no event")
	testkit.Refused(t, g.Client.CancelEvent(t.Context(), id, text.MessageID), http.StatusBadRequest, "MESSAGE_IS_NO_EVENT")
	testkit.Refused(t, g.Client.CancelEvent(t.Context(), id, "3EB0NOTHING"), http.StatusNotFound, "MESSAGE_NOT_FOUND")

	// In a group, through the queue; its members respond, the account's own phone too.
	const third = "5511988880004"
	group := g.Phones.CreateGroup(t, "Team", customerNumber, shopNumber, third)
	queued, err := g.Client.SendEvent(t.Context(), id, client.CalendarEvent{To: group.ID, Name: "Entrega", Start: start, Prefer: client.RespondAsync})
	if err != nil || !queued.Accepted {
		t.Fatalf("queued: %+v (%v)", queued, err)
	}
	for _, number := range []string{customerNumber, third, shopNumber} {
		awaitOnPhone(t, g, number, queued.MessageID, "the event", func(m testkit.PhoneMessage) bool { return m.Event.End == "" && m.Event.Location == nil })
		g.Phones.Respond(t, number, queued.MessageID, "maybe", 0)
		awaitResponse(t, sink, queued.MessageID, number, client.ResponseMaybe)
	}

	// One of somebody else.
	theirs := g.Phones.Send(t, customerNumber, map[string]any{"to": shopNumber, "type": "event", "text": "Almoço", "event": map[string]any{
		"start": "2031-05-07T15:00:00Z", "location": map[string]any{"name": "Bar"},
	}})
	awaitMessage(t, g, id, theirs)
	kept, err = g.Client.GetMessage(t.Context(), id, theirs)
	if err != nil || kept.Event == nil || kept.Event.End != nil || kept.Event.Location == nil || kept.Event.Location.Latitude != nil || *kept.Event.Location.Name != "Bar" {
		t.Errorf("received %+v (%v)", kept, err)
	}
	testkit.Refused(t, g.Client.CancelEvent(t.Context(), id, theirs), http.StatusBadRequest, "MESSAGE_NOT_EDITABLE")
	g.Phones.CancelEvent(t, customerNumber, theirs)
	awaitCancelled(t, sink, theirs)
}
