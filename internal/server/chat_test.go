package server_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/whatsapp"
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
	for name, test := range cases.Sorted(map[string]struct {
		filter client.ListMessagesParams
		want   []string // of these two; the first chat has more
	}{
		"search":     {client.ListMessagesParams{Search: "AMANHA obrig"}, []string{came.ID}},
		"sent":       {client.ListMessagesParams{FromMe: new(true), Order: client.OrderAsc}, []string{sent.ID}},
		"received":   {client.ListMessagesParams{FromMe: new(false), Before: sent.MessageID}, nil},
		"in a while": {client.ListMessagesParams{SentFrom: "2099-01-01T00:00:00Z"}, nil},
		"long ago":   {client.ListMessagesParams{SentUntil: "1999-01-01T00:00:00-03:00"}, nil},
	}) {
		page, err := g.Client.ListMessages(t.Context(), id, test.filter, 1, 10)
		var got []string
		for _, message := range page.Data {
			if message.ID == came.ID || message.ID == sent.ID {
				got = append(got, message.ID)
			}
		}
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("over all chats, %s: got %v (%v), want %v", name, got, err, test.want)
		}
	}
	if page, err := g.Client.ListMessages(t.Context(), id, client.ListMessagesParams{}, 1, 2); err != nil || len(page.Data) != 2 || page.TotalCount < 3 || page.Data[0].Chat == page.Data[1].Chat {
		t.Errorf("the newest of all chats are %+v, %v", page, err)
	}
	for _, filter := range []client.ListMessagesParams{{Search: "a"}, {SentFrom: "yesterday"}, {SentUntil: "1"}} {
		_, err := g.Client.ListMessages(t.Context(), id, filter, 1, 10)
		testkit.Refused(t, err, http.StatusBadRequest, gateway.CodeValidation)
	}
	_, err = g.Client.ListMessages(t.Context(), id, client.ListMessagesParams{After: "3EB0NOTHING"}, 1, 10)
	testkit.Refused(t, err, http.StatusNotFound, "MESSAGE_NOT_FOUND")
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
	// was reported twice. One after another: whatsmeow fetches collections of settings side by side.
	g.Phones.ChangeChat(t, shopNumber, customerNumber, map[string]any{"mutedUntil": "forever"})
	updates.await(4, "muted")
	g.Phones.ChangeChat(t, shopNumber, customerNumber, map[string]any{"archived": false})
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

// The owner arranges chats on the phone while programs do, and while the name is changed: all of it
// is known here in the end. Changes that were put together beside one another no device could read.
func TestChatsAreArrangedOnBothSides(t *testing.T) {
	t.Parallel()
	const changes = 10
	g, id := testkit.StartLinked(t, testkit.Options{})
	wrote(t, g, id, customerNumber, "one")
	wrote(t, g, id, otherNumber, "two")
	var group errgroup.Group
	for _, change := range []func(n int) error{
		func(n int) error {
			_, err := g.Client.ChangeChat(t.Context(), id, customerNumber, client.ChatChange{Archived: new(n%2 == 1)})
			return err
		},
		func(n int) error {
			_, err := g.Client.ChangeProfile(t.Context(), id, client.ProfileChange{Name: new(fmt.Sprint("Shop ", n))})
			return err
		},
	} {
		group.Go(func() error {
			for n := 0; n < changes; {
				err := change(n)
				if failure, ok := errors.AsType[*client.Error](err); ok && failure.StatusCode == http.StatusConflict {
					continue // the phone was faster
				}
				if err != nil {
					return err
				}
				n++
			}
			return nil
		})
	}
	for n := range changes {
		g.Phones.ChangeChat(t, shopNumber, otherNumber, map[string]any{"archived": n%2 == 1})
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
	testkit.Await(t, "what the phone did last", func() bool {
		chat, err := g.Client.GetChat(t.Context(), id, otherNumber)
		return err == nil && chat.Archived
	})
	if state := g.Phones.ChatState(t, shopNumber, customerNumber+"@s.whatsapp.net"); !state.Archived {
		t.Errorf("the phone shows %+v", state)
	}
	if name := g.Phones.Get(t, shopNumber).Name; name != fmt.Sprint("Shop ", changes-1) {
		t.Errorf("the phone is called %q", name)
	}
}

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

// The phone is asked for what it has not handed over, piece by piece until there is nothing more,
// and a phone that does not answer is not waited for.
func TestOlderMessages(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{Platform: whatsapp.Config{HistoryPerChat: 2, OlderTimeout: answerWait}})
	var said []string
	for n := range 7 {
		from, to := customerNumber, shopNumber
		if n%2 == 1 {
			from, to = to, from
		}
		id := g.Phones.SendText(t, from, to, "old "+strconv.Itoa(n))
		g.Phones.AwaitMessage(t, shopNumber, id)
		said = append(said, id)
	}
	id := g.Link(t, shopNumber)
	kept := func() (ids []string) {
		page, _ := g.Client.ListChatMessages(t.Context(), id, customerNumber, client.ListChatMessagesParams{Order: client.OrderAsc}, 1, 100) // no such chat yet
		for _, message := range page.Data {
			ids = append(ids, message.MessageID)
		}
		return ids
	}
	testkit.Await(t, "what the phone hands over", func() bool { return slices.Equal(kept(), said[5:]) })

	stream, err := g.Client.Events(t.Context(), id, client.EventsParams{After: new(int64(0)), Types: []string{client.TypeChatHistory, client.TypeMessageReceived, client.TypeMessageSent}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	ended := func(request client.HistoryRequest) client.ChatHistoryEvent {
		t.Helper()
		event, err := stream.Next()
		if err != nil {
			t.Fatal(err)
		}
		data, err := event.Decode()
		told, ok := data.(client.ChatHistoryEvent)
		if err != nil || !ok || told.RequestID != request.RequestID || told.Chat.Chat != customerNumber+"@s.whatsapp.net" {
			t.Fatalf("told %s %s of %+v", event.Type, event.Data, request)
		}
		return told
	}
	ask := func(count int64) client.HistoryRequest {
		t.Helper()
		asked, err := g.Client.RequestHistory(t.Context(), id, customerNumber, client.RequestHistory{Count: count})
		if err != nil || asked.Count != count || asked.RequestID == "" {
			t.Fatalf("asked for %+v, %v", asked, err)
		}
		return asked
	}
	for _, step := range []struct {
		count          int64
		from, messages int
		more           bool
	}{{3, 2, 3, true}, {4, 0, 2, false}, {50, 0, 0, false}} {
		told := ended(ask(step.count))
		if !told.Answered || told.Messages != int64(step.messages) || told.More == nil || *told.More != step.more {
			t.Errorf("told %+v, want %+v", told, step)
		}
		if got := kept(); !slices.Equal(got, said[step.from:]) {
			t.Errorf("kept are %v of %v", got, said)
		}
	}
	if chat, err := g.Client.GetChat(t.Context(), id, customerNumber); err != nil || chat.UnreadCount != 0 || chat.LastMessage.MessageID != said[6] {
		t.Errorf("the chat is %+v, %v", chat, err)
	}

	_, err = g.Client.RequestHistory(t.Context(), id, "5511966660100", client.RequestHistory{Count: 1})
	testkit.Refused(t, err, http.StatusNotFound, gateway.CodeChatNotFound)
	_, err = g.Client.RequestHistory(t.Context(), id, customerNumber, client.RequestHistory{Count: 51})
	testkit.Refused(t, err, http.StatusBadRequest, gateway.CodeValidation)
	g.Phones.SetHistory(t, shopNumber, map[string]any{"silent": true})
	asked := ask(5)
	_, err = g.Client.RequestHistory(t.Context(), id, customerNumber, client.RequestHistory{Count: 5})
	testkit.Refused(t, err, http.StatusConflict, gateway.CodeHistoryPending)
	if told := ended(asked); told.Answered || told.Messages != 0 || told.More != nil {
		t.Errorf("told %+v of a phone that does not answer", told)
	}
	g.Phones.SetHistory(t, shopNumber, map[string]any{})
	if told := ended(ask(5)); !told.Answered {
		t.Errorf("told %+v of a phone that answers again", told)
	}
}

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

// labelEvents are the events about labels that a sink got, in words.
func labelEvents(t *testing.T, sink *testkit.Sink) (said []string) {
	t.Helper()
	for _, delivered := range sink.Delivered() {
		switch delivered.Event.Type {
		case client.TypeLabelUpdated:
			var event client.LabelUpdatedEvent
			if err := json.Unmarshal(delivered.Event.Data, &event); err != nil {
				t.Error(err)
			}
			said = append(said, event.LabelID+" is "+event.Name+map[bool]string{true: ", deleted"}[event.Deleted])
		case client.TypeLabelAssigned:
			var event client.LabelAssignedEvent
			if err := json.Unmarshal(delivered.Event.Data, &event); err != nil {
				t.Error(err)
			}
			where := event.Chat.Chat
			if event.MessageID != nil {
				where = *event.MessageID
			}
			said = append(said, event.Name+map[bool]string{true: " on ", false: " from "}[event.Assigned]+where)
		}
	}
	return said
}

// What the owner does with labels on the phone is known here, also from before the link, and what
// is done here the phone shows; each change is reported once.
func TestLabels(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	g.Phones.SetLabel(t, shopNumber, "3", "from before", 1)
	g.Phones.LabelChat(t, shopNumber, customerNumber, "3", true)
	id := g.Link(t, shopNumber)
	sink := testkit.NewSink(t)
	if _, err := g.Client.SaveWebhookConfig(t.Context(), id, client.NewWebhookConfig{WebhookURL: sink.URL}); err != nil {
		t.Fatal(err)
	}
	message := wrote(t, g, id, customerNumber, "one")
	customer := customerNumber + "@s.whatsapp.net"
	labels := func() []string {
		t.Helper()
		chat, err := g.Client.GetChat(t.Context(), id, customerNumber)
		if err != nil {
			t.Fatal(err)
		}
		return chat.Labels
	}
	testkit.Await(t, "the label from before the link", func() bool { return slices.Equal(labels(), []string{"3"}) })

	// Through the API: the phone shows it.
	label, err := g.Client.CreateLabel(t.Context(), id, client.NewLabel{Name: "to pay", Color: 2})
	if err != nil || label != (client.Label{LabelID: "6", Name: "to pay", Color: 2}) {
		t.Fatalf("made %+v, %v", label, err)
	}
	for range 2 { // the second time it is there
		if err := g.Client.LabelChat(t.Context(), id, customerNumber, "6"); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.Client.LabelMessage(t.Context(), id, message.MessageID, "6"); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Client.ChangeLabel(t.Context(), id, "6", client.LabelChange{Name: new("paid")}); err != nil {
		t.Fatal(err)
	}
	shown := g.Phones.Labels(t, shopNumber)["6"]
	if shown.Name != "paid" || shown.Color != 2 || !slices.Equal(shown.Chats, []string{customer}) || !slices.Equal(shown.Messages, []string{message.MessageID}) {
		t.Errorf("the phone shows %+v", shown)
	}
	if got := labels(); !slices.Equal(got, []string{"3", "6"}) {
		t.Errorf("the chat has the labels %v", got)
	}
	stored, err := g.Client.GetMessage(t.Context(), id, message.MessageID)
	if err != nil || !slices.Equal(stored.Labels, []string{"6"}) {
		t.Errorf("the message has the labels %v, %v", stored.Labels, err)
	}
	for name, want := range cases.Sorted(map[string]int{"6": 1, "unknown": 0}) {
		chats, err := g.Client.ListChats(t.Context(), id, client.ListChatsParams{Label: name}, 1, 10)
		if err != nil || len(chats.Data) != want {
			t.Errorf("chats with the label %s: %+v, %v", name, chats.Data, err)
		}
		messages, err := g.Client.ListChatMessages(t.Context(), id, customerNumber, client.ListChatMessagesParams{Label: name}, 1, 10)
		if err != nil || len(messages.Data) != want {
			t.Errorf("messages with the label %s: %+v, %v", name, messages.Data, err)
		}
	}

	// On the phone: it is known here. Its events are the next ones, so nothing of the above was
	// reported twice.
	g.Phones.LabelChat(t, shopNumber, customerNumber, "6", false)
	g.Phones.SetLabel(t, shopNumber, "7", "later", 0)
	want := []string{
		"6 is to pay", "to pay on " + customer, "to pay on " + message.MessageID, "6 is paid",
		"paid from " + customer, "7 is later",
	}
	testkit.Await(t, "the events", func() bool { return len(labelEvents(t, sink)) >= len(want) })
	if err := g.Client.DeleteLabel(t.Context(), id, "6"); err != nil {
		t.Fatal(err)
	}
	want = append(want, "6 is paid, deleted")
	testkit.Await(t, "the last event", func() bool { return len(labelEvents(t, sink)) >= len(want) })
	if got := labelEvents(t, sink); !slices.Equal(inOrderOf(got, want), want) || len(got) != len(want) {
		t.Errorf("the events are %q, want %q", got, want)
	}
	if got, err := g.Client.ListLabels(t.Context(), id, 1, 10); err != nil || len(got.Data) != 2 || got.Data[0].LabelID != "3" || got.Data[1].LabelID != "7" {
		t.Errorf("the labels are %+v, %v", got.Data, err)
	}
	if stored, err := g.Client.GetMessage(t.Context(), id, message.MessageID); err != nil || len(stored.Labels) != 0 {
		t.Errorf("the message has the labels %v, %v", stored.Labels, err)
	}
	for name, err := range cases.Sorted(map[string]error{
		"no such label":   g.Client.LabelChat(t.Context(), id, customerNumber, "6"),
		"no such chat":    g.Client.LabelChat(t.Context(), id, "5511900000000", "7"),
		"no such message": g.Client.LabelMessage(t.Context(), id, "3EB0FF", "7"),
	}) {
		if err == nil {
			t.Errorf("%s: it was done", name)
		}
	}
}

// inOrderOf sorts what was said as it stands in want: events of different chats have no order
// among each other.
func inOrderOf(said, want []string) []string {
	sorted := slices.Clone(said)
	slices.SortStableFunc(sorted, func(a, b string) int { return slices.Index(want, a) - slices.Index(want, b) })
	return sorted
}
