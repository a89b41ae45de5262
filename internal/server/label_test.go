package server_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

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
