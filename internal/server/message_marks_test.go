package server_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit"
)

// eventsOf decodes the events of a type that a webhook got.
func eventsOf[T any](t *testing.T, sink *testkit.Sink, kind string) (all []T) {
	t.Helper()
	for _, delivered := range sink.Delivered() {
		if delivered.Type == kind {
			var event T
			if err := json.Unmarshal(delivered.Data, &event); err != nil {
				t.Error(err)
			}
			all = append(all, event)
		}
	}
	return all
}

// kept returns a message as the API has it.
func kept(t *testing.T, g *testkit.Gateway, id, messageID string) client.StoredMessage {
	t.Helper()
	message, err := g.Client.Message(t.Context(), id, messageID)
	if err != nil {
		t.Fatal(err)
	}
	return message
}

// Whoever pins a message, here or on a phone, everybody in the chat sees it, and each pin is
// reported once.
func TestMessagesArePinned(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	id := g.Link(t, shopNumber)
	sink := followChats(t, g, id).Sink
	awaitPins := func(n int) client.MessagePinnedEvent {
		t.Helper()
		testkit.Await(t, "a pin", func() bool { return len(eventsOf[client.MessagePinnedEvent](t, sink, "message.pinned")) >= n })
		return eventsOf[client.MessagePinnedEvent](t, sink, "message.pinned")[n-1]
	}
	sent := sendText(t, g, id, "open until 18:00")
	if err := g.Client.Pin(t.Context(), id, sent.ID, 7*24*time.Hour); err != nil {
		t.Fatal(err)
	}
	until := kept(t, g, id, sent.ID).PinnedUntil
	if until == nil || time.Until(*until) > 7*24*time.Hour || time.Until(*until) < 6*24*time.Hour {
		t.Errorf("it is pinned until %v", until)
	}
	if event := awaitPins(1); event.MessageID != sent.MessageID || event.PinnedUntil == nil || !event.PinnedUntil.Equal(*until) {
		t.Errorf("the event is %+v", event)
	}
	for _, number := range []string{customerNumber, shopNumber} {
		awaitOnPhone(t, g, number, sent.MessageID, "the pin", func(m testkit.PhoneMessage) bool { return m.PinnedUntil != "" })
	}

	g.Phones.Pin(t, customerNumber, sent.MessageID, 0)
	if event := awaitPins(2); event.PinnedUntil != nil || event.From == nil || event.From.JID == nil || *event.From.JID != customerNumber+"@s.whatsapp.net" {
		t.Errorf("the customer unpins it, and the event is %+v", event)
	}
	if message := kept(t, g, id, sent.ID); message.PinnedUntil != nil {
		t.Errorf("it is still pinned: %+v", message)
	}
	asked := wrote(t, g, id, customerNumber, "when do you open?")
	g.Phones.Pin(t, shopNumber, asked.MessageID, 86_400)
	awaitPins(3)
	page, err := g.Client.ListMessages(t.Context(), id, customerNumber, client.MessageFilter{}, 1, 10)
	if err != nil || len(page.Data) != 2 || page.Data[0].PinnedUntil == nil || page.Data[1].PinnedUntil != nil {
		t.Errorf("the messages are %+v (%v)", page.Data, err)
	}
	if err := g.Client.Unpin(t.Context(), id, asked.MessageID); err != nil {
		t.Fatal(err)
	}
	awaitOnPhone(t, g, customerNumber, asked.MessageID, "that it is unpinned", func(m testkit.PhoneMessage) bool { return m.PinnedUntil == "" })

	// Where only administrators change a group, only they pin.
	group := g.Phones.CreateGroup(t, "Notices", customerNumber, shopNumber)
	g.Phones.UpdateGroup(t, group.ID, map[string]any{"locked": true})
	notice := g.Phones.SendText(t, customerNumber, group.ID, "closed on Monday")
	awaitMessage(t, g, id, notice)
	testkit.Refused(t, g.Client.Pin(t.Context(), id, notice, 24*time.Hour), http.StatusForbidden, "GROUP_ADMIN_REQUIRED")
	if message := kept(t, g, id, notice); message.PinnedUntil != nil {
		t.Errorf("a refused pin is kept: %+v", message)
	}
	g.Phones.Pin(t, customerNumber, notice, 86_400)
	if event := awaitPins(5); event.MessageID != notice || event.PinnedUntil == nil {
		t.Errorf("the event is %+v", event)
	}

	// What was deleted is pinned no more, and can't be.
	if err := g.Client.Pin(t.Context(), id, sent.ID, 24*time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := g.Client.Delete(t.Context(), id, sent.ID); err != nil {
		t.Fatal(err)
	}
	if message := kept(t, g, id, sent.ID); message.PinnedUntil != nil {
		t.Errorf("it was deleted, and is still pinned: %+v", message)
	}
	testkit.Refused(t, g.Client.Pin(t.Context(), id, sent.ID, 24*time.Hour), http.StatusNotFound, "MESSAGE_NOT_FOUND")
	testkit.Refused(t, g.Client.Unpin(t.Context(), id, "3EB0NOTHING"), http.StatusNotFound, "MESSAGE_NOT_FOUND")
	awaitPins(6)
	if all := eventsOf[client.MessagePinnedEvent](t, sink, "message.pinned"); len(all) != 6 {
		t.Errorf("there are %d events", len(all))
	}
}
