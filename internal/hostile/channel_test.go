package hostile_test

import (
	"encoding/json"
	"strings"
	"testing"

	"go.mau.fi/whatsmeow/proto/waE2E"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
)

// Whoever owns a channel chooses its name and writes what he likes: it is cleaned and bounded,
// in lists, events and posts alike, and what comes after it arrives.
func TestHostileChannel(t *testing.T) {
	t.Parallel()
	b := besiege(t, "")
	ctx := t.Context()
	evil := b.Phones.CreateChannel(t, customerNumber, strings.Repeat("a\u202e\u0007", 5000))
	b.Phones.FollowChannel(t, shopNumber, evil.ID, false)
	for _, payload := range [][]byte{
		[]byte("no message at all \xff\xff"),
		mustMarshal(t, &waE2E.Message{Conversation: new(strings.Repeat("x", 300_000))}),
		mustMarshal(t, &waE2E.Message{ImageMessage: &waE2E.ImageMessage{DirectPath: new("/../../etc/passwd"), FileLength: new(uint64(1 << 62)), Mimetype: new("image/png\nx: y")}}),
		// In a channel nobody sends a change as content, nor a history of the account.
		mustMarshal(t, &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{
			Type:                    waE2E.ProtocolMessage_HISTORY_SYNC_NOTIFICATION.Enum(),
			HistorySyncNotification: &waE2E.HistorySyncNotification{DirectPath: new("/x")},
		}}),
		{},
	} {
		b.Phones.Post(t, evil.ID, "x", payload)
	}
	b.Phones.Post(t, evil.ID, "and this", nil)
	arrived := 0
	for _, event := range b.unharmed(t) {
		switch event.Type {
		case client.TypeChannelUpdated:
			var change client.ChannelUpdatedEvent
			if err := json.Unmarshal(event.Data, &change); err != nil || change.Name == nil || len(*change.Name) > gateway.MaxName || strings.ContainsAny(*change.Name, "\u202e\u0007") {
				t.Errorf("told of %.200s, %v", event.Data, err)
			}
			arrived++
		case client.TypeMessageReceived:
			var message client.Message
			if err := json.Unmarshal(event.Data, &message); err != nil {
				t.Fatal(err)
			}
			if message.Chat.Chat == evil.ID && message.Text != nil && *message.Text == "and this" {
				arrived++
			}
		}
	}
	if arrived != 2 {
		t.Errorf("%d of the two events have come", arrived)
	}
	list, err := b.Client.ListChannels(ctx, b.id, "", 0, 0)
	if err != nil || len(list.Data) != 1 || list.Data[0].Name != strings.Repeat("a", gateway.MaxName) {
		t.Errorf("the list is %+v, %v", list, err)
	}
	posts, err := b.Client.ChannelPosts(ctx, b.id, evil.ID, client.PostsQuery{})
	if err != nil || len(posts) != 6 || *posts[5].Text != "and this" || len(*posts[1].Text) != gateway.MaxText {
		t.Errorf("there are %d posts, %v", len(posts), err)
	}
	for _, post := range posts {
		if post.MimeType != nil && strings.Contains(*post.MimeType, "\n") {
			t.Errorf("a post is %+v", post)
		}
	}
}
