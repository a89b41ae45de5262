package server_test

import (
	"net/http"
	"slices"
	"strconv"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/whatsapp"
)

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
