package hostile_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// The owner of a channel chooses its name and writes anything: it is cleaned and bounded,
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
	list, err := b.Client.ListChannels(ctx, b.id, client.ListChannelsParams{}, 0, 0)
	if err != nil || len(list.Data) != 1 || list.Data[0].Name != strings.Repeat("a", gateway.MaxName) {
		t.Errorf("the list is %+v, %v", list, err)
	}
	posts, err := b.Client.ListChannelPosts(ctx, b.id, evil.ID, client.ListChannelPostsParams{})
	if err != nil || len(posts.Data) != 6 || *posts.Data[5].Text != "and this" || len(*posts.Data[1].Text) != gateway.MaxText {
		t.Errorf("there are %d posts, %v", len(posts.Data), err)
	}
	for _, post := range posts.Data {
		if post.MimeType != nil && strings.Contains(*post.MimeType, "\n") {
			t.Errorf("a post is %+v", post)
		}
	}
}

// The writer of a channel chooses what a post says of its file: it is fetched only if it is the
// one that the post names, and then as long as it is, whatever the post says.
func TestFilesOfPostsThatLie(t *testing.T) {
	t.Parallel()
	b := besiege(t, "")
	evil := b.Phones.CreateChannel(t, customerNumber, "Evil")
	b.Phones.FollowChannel(t, shopNumber, evil.ID, false)
	file := []byte("ok, tudo bem?")
	post := b.Phones.PostFile(t, evil.ID, "document", client.DataURI("text/plain", file), "")
	b.unharmed(t)
	kept, err := b.Server.Messages().Find(t.Context(), b.id, gateway.MessageRef{ID: post.MessageID})
	if err != nil {
		t.Fatal(err)
	}
	var honest waE2E.Message
	if err := proto.Unmarshal(kept.Payload, &honest); err != nil {
		t.Fatal(err)
	}
	for name, lie := range cases.Sorted(map[string]struct {
		tell func(d *waE2E.DocumentMessage)
		gets bool
	}{
		"another hash":        {func(d *waE2E.DocumentMessage) { d.FileSHA256 = make([]byte, 32) }, false},
		"no hash":             {func(d *waE2E.DocumentMessage) { d.FileSHA256 = nil }, false},
		"a key and a hash":    {func(d *waE2E.DocumentMessage) { d.MediaKey, d.FileEncSHA256 = make([]byte, 32), d.FileSHA256 }, false},
		"a path elsewhere":    {func(d *waE2E.DocumentMessage) { d.DirectPath = new("/v/none.enc?ccb=1") }, false},
		"a path to a host":    {func(d *waE2E.DocumentMessage) { d.DirectPath = new("@evil.example/x") }, false},
		"another length":      {func(d *waE2E.DocumentMessage) { d.FileLength = new(uint64(1)) }, true},
		"a length of no size": {func(d *waE2E.DocumentMessage) { d.FileLength = new(uint64(1 << 63)) }, true},
		"a key and no hash":   {func(d *waE2E.DocumentMessage) { d.MediaKey = make([]byte, 32) }, true},
	}) {
		told := proto.CloneOf(&honest)
		lie.tell(told.DocumentMessage)
		post := b.Phones.Post(t, evil.ID, "", mustMarshal(t, told))
		b.unharmed(t)
		link, err := b.Client.GetMediaDownloadLink(t.Context(), b.id, post.MessageID)
		if !lie.gets {
			testkit.Refused(t, err, http.StatusNotFound, gateway.CodeMediaNotFound)
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := fetch(t, link.URL); !bytes.Equal(got, file) {
			t.Errorf("%s: fetched %q", name, got)
		}
	}
}

// fetch returns what is served at a URL.
func fetch(t *testing.T, url string) []byte {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
