package server_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// wrote has a phone write a text to the shop, and waits until it is kept.
func wrote(t *testing.T, g *testkit.Gateway, id, from, text string) client.StoredMessage {
	t.Helper()
	messageID := g.Phones.SendText(t, from, shopNumber, text)
	awaitMessage(t, g, id, messageID)
	message, err := g.Client.GetMessage(t.Context(), id, messageID)
	if err != nil {
		t.Fatal(err)
	}
	return message
}

// What phones and the gateway have written to each other is read again: the chats, one of
// them, its messages, and one message, under every name that they have.
func TestChatsAreRead(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	sent := sendText(t, g, id, "Pedido 1042 saiu para entrega")
	came := wrote(t, g, id, customerNumber, "Obrigada, até amanhã!")
	wrote(t, g, id, "14155550124", "hello")

	if came.FromMe || came.Source != "peer" || came.Text == nil || *came.Text != "Obrigada, até amanhã!" || came.Chat.Chat != customerNumber+"@s.whatsapp.net" {
		t.Errorf("the message that came is %+v", came)
	}
	for _, name := range []string{sent.ID, sent.MessageID, customerNumber + "@c.us_" + sent.MessageID} {
		message, err := g.Client.GetMessage(t.Context(), id, name)
		if err != nil || message.ID != sent.ID || !message.FromMe || message.Source != "api" {
			t.Errorf("%s is %+v, %v", name, message, err)
		}
	}
	_, err := g.Client.GetMessage(t.Context(), id, "3EB0NOTHING")
	testkit.Refused(t, err, http.StatusNotFound, "MESSAGE_NOT_FOUND")

	page, err := g.Client.ListChats(t.Context(), id, client.ListChatsParams{}, 1, 10)
	if err != nil || len(page.Data) != 2 || page.TotalCount != 2 {
		t.Fatalf("the chats are %+v, %v", page, err)
	}
	if first := page.Data[0]; first.Chat != "14155550124@s.whatsapp.net" || first.UnreadCount != 1 || first.LastMessage == nil || *first.LastMessage.Text != "hello" {
		t.Errorf("the first chat is %+v", first)
	}
	if chats, err := g.Client.ListChats(t.Context(), id, client.ListChatsParams{Search: customerNumber[4:]}, 0, 0); err != nil || len(chats.Data) != 1 {
		t.Errorf("the search for a number finds %+v, %v", chats, err)
	}
	lid := g.Phones.Get(t, customerNumber).LID
	for _, name := range []string{customerNumber, "+55 11 98888-7766", "11988887766", customerNumber + "@s.whatsapp.net", lid} {
		chat, err := g.Client.GetChat(t.Context(), id, name)
		if err != nil || chat.Chat != customerNumber+"@s.whatsapp.net" || *chat.ChatLID != lid || chat.IsGroup || chat.LastMessage.ID != came.ID {
			t.Errorf("%s is %+v, %v", name, chat, err)
		}
	}
	_, err = g.Client.GetChat(t.Context(), id, "5511900000000")
	testkit.Refused(t, err, http.StatusNotFound, "CHAT_NOT_FOUND")

	list := func(filter client.ListChatMessagesParams) []string {
		t.Helper()
		page, err := g.Client.ListChatMessages(t.Context(), id, customerNumber, filter, 1, 10)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, message := range page.Data {
			ids = append(ids, message.ID)
		}
		return ids
	}
	for name, test := range cases.Sorted(map[string]struct {
		filter client.ListChatMessagesParams
		want   []string
	}{
		"all":          {client.ListChatMessagesParams{}, []string{came.ID, sent.ID}},
		"oldest first": {client.ListChatMessagesParams{Order: client.OrderAsc}, []string{sent.ID, came.ID}},
		"before":       {client.ListChatMessagesParams{Before: came.MessageID}, []string{sent.ID}},
		"after":        {client.ListChatMessagesParams{After: lid + "_" + sent.MessageID}, []string{came.ID}},
		"after a time": {client.ListChatMessagesParams{After: "2099-01-01T00:00:00Z"}, nil},
		"texts":        {client.ListChatMessagesParams{Types: "text,image"}, []string{came.ID, sent.ID}},
		"images":       {client.ListChatMessagesParams{Types: "image"}, nil},
	}) {
		if got := list(test.filter); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
	if got := list(client.ListChatMessagesParams{Search: "AMANHA obrig"}); !slices.Equal(got, []string{came.ID}) {
		t.Errorf("the search finds %v", got)
	}
	for _, filter := range []client.ListChatMessagesParams{{Types: "fax"}, {Before: "a\x00b"}} {
		_, err := g.Client.ListChatMessages(t.Context(), id, customerNumber, filter, 1, 10)
		testkit.Refused(t, err, http.StatusBadRequest, gateway.CodeValidation)
	}
	_, err = g.Client.ListChatMessages(t.Context(), id, customerNumber, client.ListChatMessagesParams{Before: "3EB0NOTHING"}, 1, 10)
	testkit.Refused(t, err, http.StatusNotFound, "MESSAGE_NOT_FOUND")

	if _, err := g.Client.MarkRead(t.Context(), id, client.MarkRead{MessageID: came.MessageID}); err != nil {
		t.Fatal(err)
	}
	if chat, err := g.Client.GetChat(t.Context(), id, customerNumber); err != nil || chat.UnreadCount != 0 {
		t.Errorf("after it was read the chat is %+v, %v", chat, err)
	}
}
