package server_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// chatUpdates follows the event chat.updated of an instance.
type chatUpdates struct {
	*testkit.Sink

	t *testing.T
}

func followChats(t *testing.T, g *testkit.Gateway, id string) chatUpdates {
	t.Helper()
	sink := testkit.NewSink(t)
	if _, err := g.Client.SaveWebhookConfig(t.Context(), id, client.NewWebhookConfig{WebhookURL: sink.URL}); err != nil {
		t.Fatal(err)
	}
	return chatUpdates{sink, t}
}

// all are the events that came.
func (c chatUpdates) all() (all []client.ChatUpdatedEvent) {
	c.t.Helper()
	for _, delivered := range c.Delivered() {
		if delivered.Event.Type == "chat.updated" {
			var event client.ChatUpdatedEvent
			if err := json.Unmarshal(delivered.Event.Data, &event); err != nil {
				c.t.Error(err)
			}
			all = append(all, event)
		}
	}
	return all
}

// await waits for the nth event, which must say what changed.
func (c chatUpdates) await(n int, changed ...string) client.ChatUpdatedEvent {
	c.t.Helper()
	testkit.Await(c.t, "a change of a chat", func() bool { return len(c.all()) >= n })
	event := c.all()[n-1]
	if !slices.Equal(event.Changed, changed) {
		c.t.Fatalf("event %d says that %v changed, want %v", n, event.Changed, changed)
	}
	return event
}

func (c chatUpdates) count(want int) {
	c.t.Helper()
	if all := c.all(); len(all) != want {
		c.t.Errorf("there are %d events instead of %d: %+v", len(all), want, all)
	}
}

// What the owner does with a chat on the phone is known here, and what is done here the phone
// shows; each change is reported once.
func TestChatsAreArranged(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	customer := customerNumber + "@s.whatsapp.net"
	first := wrote(t, g, id, customerNumber, "one")
	wrote(t, g, id, customerNumber, "two")
	updates := followChats(t, g, id)
	get := func() client.ListedChat {
		t.Helper()
		chat, err := g.Client.GetChat(t.Context(), id, customerNumber)
		if err != nil {
			t.Fatal(err)
		}
		return chat
	}

	// Reading on the phone.
	g.Phones.Do(t, shopNumber, "messages/"+first.MessageID+"/read")
	if event := updates.await(1, "read"); event.UnreadCount != 1 || event.Chat.Chat != customer {
		t.Errorf("one message was read, and the event is %+v", event)
	}
	if chat := get(); chat.UnreadCount != 1 {
		t.Errorf("one message was read, and the chat is %+v", chat)
	}

	// Through the API: the phone shows it.
	noon := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	chat, err := g.Client.ChangeChat(t.Context(), id, customerNumber, client.ChatChange{
		Archived: new(true), MutedUntil: client.Set(noon.Format(time.RFC3339)), Read: new(true),
	})
	if err != nil || !chat.Archived || chat.UnreadCount != 0 || chat.MutedUntil == nil {
		t.Fatalf("the chat is %+v, %v", chat, err)
	}
	if event := updates.await(2, "archived", "muted", "read"); !event.Archived || event.UnreadCount != 0 {
		t.Errorf("the event is %+v", event)
	}
	if state := g.Phones.ChatState(t, shopNumber, customer); !state.Archived || state.MutedUntil != noon.Format("2006-01-02T15:04:05.000Z") || state.MarkedUnread {
		t.Errorf("the phone shows %+v", state)
	}
	if page, err := g.Client.ListChats(t.Context(), id, client.ListChatsParams{Archived: new(false)}, 1, 10); err != nil || len(page.Data) != 0 {
		t.Errorf("the chats that are not archived are %+v, %v", page, err)
	}
	if _, err := g.Client.ChangeChat(t.Context(), id, customerNumber, client.ChatChange{DisappearingSeconds: new(int64(86_400))}); err != nil {
		t.Fatal(err)
	}
	updates.await(3, "disappearing")
	testkit.Await(t, "the customer's phone to show the timer", func() bool {
		return g.Phones.ChatState(t, customerNumber, shopNumber+"@s.whatsapp.net").Disappearing == 86_400
	})

	disappears := func(sent client.Sent, err error, after uint32) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if shown := g.Phones.AwaitMessage(t, customerNumber, sent.MessageID); shown.DisappearsAfter != after {
			t.Errorf("a %s disappears after %d seconds, not %d", shown.Type, shown.DisappearsAfter, after)
		}
	}
	sent, err := g.Client.SendText(t.Context(), id, client.Text{To: customerNumber, Message: "a secret"})
	disappears(sent, err, 86_400)
	sent, err = g.Client.SendImage(t.Context(), id, client.Image{To: customerNumber, Image: client.DataURI("image/png", picture(t)), Prefer: client.RespondAsync})
	disappears(sent, err, 86_400)

	// On the phone: it is known here, and its events are the next ones, so nothing of the above
	// was reported twice.
	g.Phones.ChangeChat(t, shopNumber, customerNumber, map[string]any{"archived": false, "mutedUntil": "forever"})
	updates.await(4, "muted")
	updates.await(5, "archived")
	g.Phones.ChangeChat(t, shopNumber, customerNumber, map[string]any{"pinned": true})
	updates.await(6, "pinned")
	g.Phones.ChangeChat(t, shopNumber, customerNumber, map[string]any{"read": false})
	updates.await(7, "read")
	g.Phones.ChangeChat(t, customerNumber, shopNumber, map[string]any{"disappearingSeconds": 0})
	updates.await(8, "disappearing")
	sent, err = g.Client.SendText(t.Context(), id, client.Text{To: customerNumber, Message: "no secret"})
	disappears(sent, err, 0)
	if chat := get(); chat.Archived || !chat.Pinned || !chat.MarkedUnread || chat.DisappearingSeconds != 0 || chat.MutedUntil == nil || *chat.MutedUntil != client.Forever {
		t.Errorf("the chat is %+v", chat)
	}

	// What is wrong changes nothing.
	for name, change := range cases.Sorted(map[string]client.ChatChange{
		"nothing":       {},
		"the past":      {MutedUntil: client.Set("2020-01-01T00:00:00Z")},
		"no time":       {MutedUntil: client.Set("later"), Archived: new(true)},
		"both":          {Archived: new(true), Pinned: new(true)},
		"an odd timer":  {DisappearingSeconds: new(int64(7))},
		"a minus timer": {DisappearingSeconds: new(int64(-1))},
	}) {
		if _, err := g.Client.ChangeChat(t.Context(), id, customerNumber, change); err == nil {
			t.Errorf("%s is accepted", name)
		} else {
			testkit.Refused(t, err, http.StatusBadRequest, gateway.CodeValidation)
		}
	}
	_, err = g.Client.ChangeChat(t.Context(), id, "5511900000000", client.ChatChange{Pinned: new(true)})
	testkit.Refused(t, err, http.StatusNotFound, "CHAT_NOT_FOUND")
	updates.count(8)

	// What is archived is pinned no more, on the phone neither.
	if chat, err := g.Client.ChangeChat(t.Context(), id, customerNumber, client.ChatChange{Archived: new(true)}); err != nil || !chat.Archived || chat.Pinned {
		t.Errorf("the chat is %+v, %v", chat, err)
	}
	updates.await(9, "archived", "pinned")
	if state := g.Phones.ChatState(t, shopNumber, customer); !state.Archived || state.Pinned {
		t.Errorf("the phone shows %+v", state)
	}

	// Deleted on the phone, and through the API.
	g.Phones.DeleteChat(t, shopNumber, customerNumber)
	if event := updates.await(10, "deleted"); !event.Deleted {
		t.Errorf("the event is %+v", event)
	}
	_, err = g.Client.GetChat(t.Context(), id, customerNumber)
	testkit.Refused(t, err, http.StatusNotFound, "CHAT_NOT_FOUND")
	_, err = g.Client.GetMessage(t.Context(), id, first.MessageID)
	testkit.Refused(t, err, http.StatusNotFound, "MESSAGE_NOT_FOUND")
	again := wrote(t, g, id, customerNumber, "again")
	if chat := get(); chat.UnreadCount != 1 || chat.LastMessage.ID != again.ID {
		t.Errorf("anew the chat is %+v", chat)
	}
	if err := g.Client.DeleteChat(t.Context(), id, customerNumber); err != nil {
		t.Fatal(err)
	}
	updates.await(11, "deleted")
	if shown := g.Phones.Messages(t, shopNumber, customerNumber); len(shown) != 0 {
		t.Errorf("the phone still shows %+v", shown)
	}
	if shown := g.Phones.Messages(t, customerNumber, shopNumber); len(shown) == 0 {
		t.Error("the customer's phone has lost its messages")
	}
	testkit.Refused(t, g.Client.DeleteChat(t.Context(), id, customerNumber), http.StatusNotFound, "CHAT_NOT_FOUND")
}

// What was arranged before the link is known after it, without an event.
func TestChatsAreArrangedBeforeTheLink(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	g.Phones.SendText(t, shopNumber, customerNumber, "before")
	g.Phones.ChangeChat(t, shopNumber, customerNumber, map[string]any{"archived": true, "mutedUntil": "forever"})
	id := g.Link(t, shopNumber)
	updates := followChats(t, g, id)
	testkit.Await(t, "the chat to be known", func() bool {
		chat, err := g.Client.GetChat(t.Context(), id, customerNumber)
		return err == nil && chat.Archived && chat.MutedUntil != nil && *chat.MutedUntil == client.Forever
	})
	g.Phones.ChangeChat(t, shopNumber, customerNumber, map[string]any{"archived": false})
	updates.await(1, "archived")
}
