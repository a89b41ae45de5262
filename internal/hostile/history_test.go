package hostile_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/proto/waWeb"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
)

// A phone that answers a request for older messages with other chats, other times, other senders
// and far too much of everything adds what was asked for, and nothing else.
func TestAnswersNobodyAskedForAreLeftOut(t *testing.T) {
	t.Parallel()
	b := besiege(t, "")
	said := b.Phones.SendText(t, customerNumber, shopNumber, "hello")
	b.unharmed(t)
	customer, stranger := b.Phones.Get(t, customerNumber).LID, "999000111222333@lid"
	old := func(chat, id string, at time.Time, change func(*waWeb.WebMessageInfo)) *waHistorySync.HistorySyncMsg {
		info := &waWeb.WebMessageInfo{
			Key:              &waCommon.MessageKey{RemoteJID: &chat, FromMe: new(false), ID: &id},
			MessageTimestamp: new(uint64(at.Unix())),
			Message:          &waE2E.Message{Conversation: new("from " + id)},
		}
		if change != nil {
			change(info)
		}
		return &waHistorySync.HistorySyncMsg{Message: info}
	}
	hourAgo, tomorrow := time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	asked := &waHistorySync.Conversation{ID: &customer}
	for n := range 5000 {
		asked.Messages = append(asked.Messages, old(customer, fmt.Sprintf("OLD%d", n%4000), hourAgo.Add(-time.Duration(n)*time.Second), nil))
	}
	asked.Messages = append(
		asked.Messages, old(customer, "FUTURE", tomorrow, nil), old(customer, said, hourAgo, nil), old(customer, "", hourAgo, nil),
		old(stranger, "ELSEWHERE", hourAgo, func(info *waWeb.WebMessageInfo) { info.Participant = &stranger }),
	)
	raw, err := proto.Marshal(&waHistorySync.HistorySync{
		SyncType: waHistorySync.HistorySync_ON_DEMAND.Enum(),
		Conversations: []*waHistorySync.Conversation{
			{ID: &stranger, Messages: []*waHistorySync.HistorySyncMsg{old(stranger, "FOREIGN", hourAgo, nil)}}, asked, {ID: new("no chat")},
		},
		Pushnames:                []*waHistorySync.Pushname{{ID: &customer, Pushname: new("Forged")}},
		PhoneNumberToLidMappings: []*waHistorySync.PhoneNumberToLIDMapping{{PnJID: new(customerNumber + "@s.whatsapp.net"), LidJID: &stranger}},
	})
	if err != nil {
		t.Fatal(err)
	}
	b.Phones.SetHistory(t, shopNumber, map[string]any{"raw": raw})
	const count = 10
	request, err := b.Client.RequestHistory(t.Context(), b.id, customerNumber, client.RequestHistory{Count: count})
	if err != nil {
		t.Fatal(err)
	}
	list := func() client.Page[client.StoredMessage] {
		t.Helper()
		page, err := b.Client.ListChatMessages(t.Context(), b.id, customerNumber, client.ListChatMessagesParams{Order: client.OrderAsc}, 1, 100)
		if err != nil {
			t.Fatal(err)
		}
		return page
	}
	before := list().TotalCount
	testkit.Await(t, "what was asked for", func() bool { return list().TotalCount > before })
	for _, event := range b.unharmed(t) {
		if data, err := event.Decode(); err != nil {
			t.Error(err)
		} else if ended, ok := data.(client.ChatHistoryEvent); ok && (ended.RequestID != request.RequestID || ended.Messages > count) {
			t.Errorf("told %+v", ended)
		} else if message, ok := data.(client.Message); ok && event.Type == client.TypeMessageReceived && message.Timestamp.Before(hourAgo.Add(time.Minute)) {
			t.Errorf("an old message is reported: %s", event.Data)
		}
	}
	page := list()
	if added := page.TotalCount - before; added > count+2 { // with what unharmed has said
		t.Errorf("%d messages came", added)
	}
	for _, message := range page.Data {
		if message.MessageID == "FUTURE" || message.MessageID == "FOREIGN" || message.From == nil || message.From.LID == nil ||
			!message.FromMe && *message.From.LID != customer || message.From.Name != nil && *message.From.Name == "Forged" {
			t.Errorf("kept is %+v", message)
		}
	}
	_, err = b.Client.GetChat(t.Context(), b.id, stranger)
	testkit.Refused(t, err, http.StatusNotFound, gateway.CodeChatNotFound)
}
