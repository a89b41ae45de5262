package server_test

import (
	"net/http"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit"
)

// Who clears a chat on the phone finds its messages gone here, those that are starred only if they
// are on the phone. The chat stays as it is arranged.
func TestChatsAreCleared(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	first := wrote(t, g, id, customerNumber, "one")
	starred := wrote(t, g, id, customerNumber, "two")
	if err := g.Client.StarMessage(t.Context(), id, starred.MessageID); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Client.ChangeChat(t.Context(), id, customerNumber, client.ChatChange{Pinned: new(true)}); err != nil {
		t.Fatal(err)
	}
	updates := followChats(t, g, id)
	gone := func(message client.StoredMessage) {
		t.Helper()
		_, err := g.Client.GetMessage(t.Context(), id, message.MessageID)
		testkit.Refused(t, err, http.StatusNotFound, "MESSAGE_NOT_FOUND")
	}

	g.Phones.ClearChat(t, shopNumber, customerNumber, false)
	if event := updates.await(1, client.ChangedCleared); event.Deleted || !event.Pinned || event.UnreadCount != 1 {
		t.Errorf("the event is %+v", event)
	}
	gone(first)
	if _, err := g.Client.GetMessage(t.Context(), id, starred.MessageID); err != nil {
		t.Errorf("the starred message: %v", err)
	}

	g.Phones.ClearChat(t, shopNumber, customerNumber, true)
	if event := updates.await(2, client.ChangedCleared); event.UnreadCount != 0 {
		t.Errorf("the event is %+v", event)
	}
	gone(starred)
	chat, err := g.Client.GetChat(t.Context(), id, customerNumber)
	if err != nil || !chat.Pinned || chat.UnreadCount != 0 || chat.LastMessage != nil {
		t.Errorf("the chat is %+v, %v", chat, err)
	}
	if shown := g.Phones.Messages(t, customerNumber, shopNumber); len(shown) != 2 {
		t.Errorf("the customer's phone shows %+v", shown)
	}

	// What comes afterwards stays, and is reported as nothing but itself.
	again := wrote(t, g, id, customerNumber, "three")
	g.Phones.ChangeChat(t, shopNumber, customerNumber, map[string]any{"pinned": false})
	updates.await(3, "pinned")
	if chat, err := g.Client.GetChat(t.Context(), id, customerNumber); err != nil || chat.LastMessage.ID != again.ID {
		t.Errorf("the chat is %+v, %v", chat, err)
	}
}
