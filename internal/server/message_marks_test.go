package server_test

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit"
)

// eventsOf decodes the events of a type that a webhook got.
func eventsOf[T any](t *testing.T, sink *testkit.Sink, kind string) (all []T) {
	t.Helper()
	for _, delivered := range sink.Delivered() {
		if delivered.Event.Type == kind {
			var event T
			if err := json.Unmarshal(delivered.Event.Data, &event); err != nil {
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
	message, err := g.Client.GetMessage(t.Context(), id, messageID)
	if err != nil {
		t.Fatal(err)
	}
	return message
}

// When somebody pins a message, here or on a phone, everybody in the chat sees it, and each pin is
// reported once.
func TestMessagesArePinned(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	sink := followChats(t, g, id).Sink
	awaitPins := func(n int) client.MessagePinnedEvent {
		t.Helper()
		testkit.Await(t, "a pin", func() bool { return len(eventsOf[client.MessagePinnedEvent](t, sink, "message.pinned")) >= n })
		return eventsOf[client.MessagePinnedEvent](t, sink, "message.pinned")[n-1]
	}
	sent := sendText(t, g, id, "open until 18:00")
	if err := g.Client.PinMessage(t.Context(), id, sent.ID, client.Pin{DurationSeconds: int64(7 * 24 * time.Hour / time.Second)}); err != nil {
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
	g.Phones.AwaitMessage(t, shopNumber, asked.MessageID)
	g.Phones.Pin(t, shopNumber, asked.MessageID, 86_400)
	awaitPins(3)
	page, err := g.Client.ListChatMessages(t.Context(), id, customerNumber, client.ListChatMessagesParams{}, 1, 10)
	if err != nil || len(page.Data) != 2 || page.Data[0].PinnedUntil == nil || page.Data[1].PinnedUntil != nil {
		t.Errorf("the messages are %+v (%v)", page.Data, err)
	}
	if err := g.Client.UnpinMessage(t.Context(), id, asked.MessageID); err != nil {
		t.Fatal(err)
	}
	awaitOnPhone(t, g, customerNumber, asked.MessageID, "that it is unpinned", func(m testkit.PhoneMessage) bool { return m.PinnedUntil == "" })

	// Where only administrators change a group, only they pin.
	group := g.Phones.CreateGroup(t, "Notices", customerNumber, shopNumber)
	g.Phones.UpdateGroup(t, group.ID, map[string]any{"locked": true})
	notice := g.Phones.SendText(t, customerNumber, group.ID, "closed on Monday")
	awaitMessage(t, g, id, notice)
	testkit.Refused(t, g.Client.PinMessage(t.Context(), id, notice, client.Pin{DurationSeconds: int64(24 * time.Hour / time.Second)}), http.StatusForbidden, "GROUP_ADMIN_REQUIRED")
	if message := kept(t, g, id, notice); message.PinnedUntil != nil {
		t.Errorf("a refused pin is kept: %+v", message)
	}
	g.Phones.Pin(t, customerNumber, notice, 86_400)
	if event := awaitPins(5); event.MessageID != notice || event.PinnedUntil == nil {
		t.Errorf("the event is %+v", event)
	}

	// What was deleted is pinned no more, and can't be.
	if err := g.Client.PinMessage(t.Context(), id, sent.ID, client.Pin{DurationSeconds: int64(24 * time.Hour / time.Second)}); err != nil {
		t.Fatal(err)
	}
	if err := g.Client.DeleteMessage(t.Context(), id, client.DeleteMessage{MessageID: sent.ID}); err != nil {
		t.Fatal(err)
	}
	if message := kept(t, g, id, sent.ID); message.PinnedUntil != nil {
		t.Errorf("it was deleted, and is still pinned: %+v", message)
	}
	testkit.Refused(t, g.Client.PinMessage(t.Context(), id, sent.ID, client.Pin{DurationSeconds: int64(24 * time.Hour / time.Second)}), http.StatusNotFound, "MESSAGE_NOT_FOUND")
	testkit.Refused(t, g.Client.UnpinMessage(t.Context(), id, "3EB0NOTHING"), http.StatusNotFound, "MESSAGE_NOT_FOUND")
	awaitPins(6)
	if all := eventsOf[client.MessagePinnedEvent](t, sink, "message.pinned"); len(all) != 6 {
		t.Errorf("there are %d events", len(all))
	}
}

// Stars and deletions for the account alone go both ways, are reported once, and nobody else
// learns of them.
func TestMessagesAreStarredAndDeletedForMe(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	g, id := testkit.StartLinked(t, testkit.Options{DataDir: data})
	sink := followChats(t, g, id).Sink
	stars := func() []client.MessageStarredEvent {
		return eventsOf[client.MessageStarredEvent](t, sink, "message.starred")
	}
	deletions := func() []client.MessageDeletedForMeEvent {
		return eventsOf[client.MessageDeletedForMeEvent](t, sink, "message.deleted_for_me")
	}
	starred := func(want ...string) {
		t.Helper()
		page, err := g.Client.ListChatMessages(t.Context(), id, customerNumber, client.ListChatMessagesParams{Starred: new(true)}, 1, 10)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]string, len(page.Data))
		for n, message := range page.Data {
			got[n] = message.MessageID
		}
		if !slices.Equal(got, want) {
			t.Errorf("starred are %v, want %v", got, want)
		}
	}
	asked := wrote(t, g, id, customerNumber, "when do you open?")
	sent := sendText(t, g, id, "at nine")
	g.Phones.AwaitMessage(t, shopNumber, sent.MessageID)

	for _, messageID := range []string{asked.MessageID, sent.ID} {
		if err := g.Client.StarMessage(t.Context(), id, messageID); err != nil {
			t.Fatal(err)
		}
	}
	starred(sent.MessageID, asked.MessageID)
	for _, messageID := range []string{asked.MessageID, sent.MessageID} {
		awaitOnPhone(t, g, shopNumber, messageID, "the star", func(m testkit.PhoneMessage) bool { return m.Starred })
		awaitOnPhone(t, g, customerNumber, messageID, "no star", func(m testkit.PhoneMessage) bool { return !m.Starred })
	}
	g.Phones.Star(t, shopNumber, sent.MessageID, false)
	testkit.Await(t, "that the phone takes the star away", func() bool { return len(stars()) == 3 })
	if event := stars()[2]; event.Starred || event.MessageID != sent.MessageID {
		t.Errorf("the event is %+v", event)
	}
	starred(asked.MessageID)
	if err := g.Client.UnstarMessage(t.Context(), id, asked.MessageID); err != nil {
		t.Fatal(err)
	}
	starred()

	// In a group, the sender is named too.
	group := g.Phones.CreateGroup(t, "Friends", customerNumber, shopNumber)
	inGroup := g.Phones.SendText(t, customerNumber, group.ID, "hello all")
	awaitMessage(t, g, id, inGroup)
	g.Phones.AwaitMessage(t, shopNumber, inGroup)
	g.Phones.Star(t, shopNumber, inGroup, true)
	testkit.Await(t, "the star in the group", func() bool { return len(stars()) == 5 })

	// Deleted here: the phone has it no more, the customer keeps it.
	if err := g.Client.DeleteMessageForMe(t.Context(), id, asked.MessageID); err != nil {
		t.Fatal(err)
	}
	testkit.Await(t, "the deletion on the phone", func() bool { return !g.Phones.Has(t, shopNumber, asked.MessageID) })
	if message := g.Phones.AwaitMessage(t, customerNumber, asked.MessageID); message.Deleted || message.Text == "" {
		t.Errorf("the customer's phone shows %+v", message)
	}
	if message := kept(t, g, id, asked.MessageID); message.DeletedAt == nil || message.Text == nil || *message.Text != "" {
		t.Errorf("it was deleted, and is kept as %+v", message)
	}
	testkit.Refused(t, g.Client.DeleteMessageForMe(t.Context(), id, asked.MessageID), http.StatusNotFound, "MESSAGE_NOT_FOUND")
	testkit.Refused(t, g.Client.StarMessage(t.Context(), id, asked.MessageID), http.StatusNotFound, "MESSAGE_NOT_FOUND")

	// Deleted on the phone, with its file.
	shown := g.Phones.Send(t, customerNumber, map[string]any{"to": shopNumber, "type": "image", "media": client.DataURI("image/png", picture(t))})
	file := filepath.Join(data, "media", id, awaitMessage(t, g, id, shown).ID)
	link := followLink(t, g, id, shown, picture(t))
	if !exists(t, file) {
		t.Fatal("its file is not kept where the test looks for it")
	}
	g.Phones.AwaitMessage(t, shopNumber, shown)
	g.Phones.DeleteForMe(t, shopNumber, shown)
	testkit.Await(t, "that the phone deletes it", func() bool { return len(deletions()) == 2 })
	if _, err := g.Client.GetMediaDownloadLink(t.Context(), id, shown); err == nil {
		t.Error("its file can still be asked for")
	}
	if answer := follow(t, link); answer != http.StatusNotFound {
		t.Errorf("the link to its file answers %d", answer)
	}
	testkit.Await(t, "the end of its file", func() bool { return !exists(t, file) })
	// Nothing was reported twice.
	g.Phones.Star(t, shopNumber, inGroup, false)
	testkit.Await(t, "the last star", func() bool { return len(stars()) == 6 })
	if len(deletions()) != 2 {
		t.Errorf("there are %d deletions", len(deletions()))
	}
}

// follow is the status of a link.
func follow(t *testing.T, url string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Error(err)
	}
	return response.StatusCode
}
