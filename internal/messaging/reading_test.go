package messaging_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging"
)

// reader reads on a desk.
func (d *desk) reader() *messaging.Service {
	return messaging.NewWithout(messaging.Config{Store: d.store, Encoder: describer{look: d.write}})
}

// keep stores messages, one a second, and returns them.
func (d *desk) keep(messages ...gateway.Message) []gateway.Message {
	d.t.Helper()
	for n := range messages {
		message := &messages[n]
		message.PlatformID = fmt.Sprintf("3EB0%02d", n)
		message.Text = fmt.Sprint("text ", n)
		message.ID, message.InstanceID = fmt.Sprintf("id-%02d", n), d.instance.ID
		message.SentAt = time.Unix(1_800_000_000+int64(n), 0).UTC()
		message.CreatedAt, message.Source, message.Type = message.SentAt, gateway.SourcePeer, gateway.TypeText
	}
	d.check(d.store.AddHistory(d.t.Context(), d.instance.ID, messages))
	return messages
}

func TestChatsAreGroupedByTheirAddresses(t *testing.T) {
	t.Parallel()
	const lid, stranger = gateway.JID("77@lid"), gateway.JID("88@lid")
	ana := gateway.Party{Name: "Ana"}
	d := newDesk(t)
	d.keep(
		gateway.Message{Chat: gateway.Party{JID: customer}, FromMe: true, Sender: gateway.Party{Name: "Shop"}},
		gateway.Message{Chat: gateway.Party{LID: lid}, Sender: ana},
		gateway.Message{Chat: gateway.Party{JID: group}, Sender: ana},
		gateway.Message{Chat: gateway.Party{JID: customer, LID: lid}, FromMe: true, Sender: gateway.Party{Name: "Shop"}},
		gateway.Message{Chat: gateway.Party{LID: stranger}},
		gateway.Message{Chat: gateway.Party{JID: group, Name: "Family"}, Sender: ana},
	)
	type line struct {
		party gateway.Party
		text  string
		count int
	}
	want := []line{
		{gateway.Party{JID: group, Name: "Family"}, "text 5", 2},
		{gateway.Party{LID: stranger}, "text 4", 1},
		{gateway.Party{JID: customer, LID: lid, Name: "Ana"}, "text 3", 3},
	}
	for _, test := range []struct {
		page gateway.PageRequest
		want []line
	}{
		{gateway.PageRequest{Page: 1, Limit: 10}, want},
		{gateway.PageRequest{Page: 1, Limit: 2}, want[:2]},
		{gateway.PageRequest{Page: 2, Limit: 2}, want[2:]},
		{gateway.PageRequest{Page: 3, Limit: 2}, nil},
	} {
		page, err := d.reader().Chats(t.Context(), d.instance.ID, test.page)
		d.check(err)
		var got []line
		for _, chat := range page.Items {
			got = append(got, line{chat.Party, chat.Last.Text, chat.Count})
		}
		if !reflect.DeepEqual(got, test.want) || page.Total != 3 {
			t.Errorf("%+v: got %+v of %d, want %+v", test.page, got, page.Total, test.want)
		}
	}
}

func TestChatIsReadInPages(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	var messages []gateway.Message
	for range 65 {
		messages = append(messages, gateway.Message{Chat: gateway.Party{JID: customer}, Sender: gateway.Party{Name: "Ana"}})
	}
	messages[40].Chat = gateway.Party{JID: group}
	messages[3].DeletedAt = time.Unix(1_800_000_100, 0).UTC()
	d.keep(messages...)
	var before gateway.Position
	var got []string
	for pages := 1; ; pages++ {
		page, err := d.reader().Chat(t.Context(), d.instance.ID, gateway.Party{JID: customer}, before)
		d.check(err)
		if want := (gateway.Party{JID: customer, Name: "Ana"}); page.Party != want {
			t.Errorf("the chat is %+v, want %+v", page.Party, want)
		}
		var texts []string
		for _, message := range page.Messages {
			texts = append(texts, message.Text)
		}
		got = append(texts, got...)
		if before = page.Older; before == (gateway.Position{}) {
			if pages != 3 {
				t.Errorf("there are %d pages", pages)
			}
			break
		}
	}
	var want []string
	for _, message := range messages {
		if message.Chat.JID == customer {
			want = append(want, message.Text)
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read %v, want %v", got, want)
	}
}
