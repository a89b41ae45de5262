package server_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// statusPosts are the identifiers of the status posts of an instance, newest first.
func statusPosts(t *testing.T, g *testkit.Gateway, id string) (ids []string) {
	t.Helper()
	for post, err := range g.Client.StatusPosts(t.Context(), id) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, post.MessageID)
	}
	return ids
}

// A status post goes to those in the address book, as its owner has chosen; who has seen it is
// told, and it is deleted everywhere.
func TestStatusPosts(t *testing.T) {
	t.Parallel()
	const stranger = "5511988880004"
	g := testkit.Start(t, testkit.Options{})
	g.Phones.NameContact(t, shopNumber, customerNumber, "Ana")
	id := g.Link(t, shopNumber)
	sink := followChats(t, g, id).Sink
	testkit.Await(t, "the address book", func() bool {
		audience, err := g.Client.ListStatusAudience(t.Context(), id, 0, 0)
		return err == nil && audience.Rule == "contacts" && audience.TotalCount == 1 && audience.Data[0].ID == customerNumber+"@s.whatsapp.net"
	})
	text := client.StatusText{Message: "Aberto até as 20h!", Background: "#7E2AA8", Font: "bold", IdempotencyKey: "today"}
	sent, err := g.Client.PostStatusText(t.Context(), id, text)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := g.Client.PostStatusText(t.Context(), id, text); err != nil || !again.IdempotencyReplayed || again.MessageID != sent.MessageID {
		t.Errorf("again: %+v (%v)", again, err)
	}
	if shown := g.Phones.AwaitMessage(t, customerNumber, sent.MessageID); shown.Chat != client.StatusChat || shown.Text != text.Message ||
		shown.From != shopNumber+"@s.whatsapp.net" || shown.Background != "#7E2AA8" || shown.Font != "SYSTEM_BOLD" {
		t.Errorf("the phone shows %+v", shown)
	}
	g.Phones.AwaitMessage(t, shopNumber, sent.MessageID)
	if g.Phones.Has(t, stranger, sent.MessageID) {
		t.Error("a stranger sees the post")
	}
	sink.AwaitType("message.status", func(d testkit.Delivered) bool {
		var event client.MessageStatusEvent
		if err := json.Unmarshal(d.Event.Data, &event); err != nil {
			t.Error(err)
		}
		return event.MessageID == sent.MessageID && event.Status == "read" && event.Chat.Chat == client.StatusChat &&
			event.Participant != nil && event.Participant.JID != nil && *event.Participant.JID == customerNumber+"@s.whatsapp.net"
	})

	shown, clip := client.DataURI("image/png", picture(t)), client.DataURI("video/mp4", mediaFile(t, "clip.mp4"))
	image, err := g.Client.PostStatusImage(t.Context(), id, client.StatusImage{Image: shown, Caption: "new"})
	if err != nil {
		t.Fatal(err)
	}
	video, err := g.Client.PostStatusVideo(t.Context(), id, client.StatusVideo{Video: clip, Prefer: client.RespondAsync})
	if err != nil || !video.Accepted {
		t.Fatalf("posted %+v (%v)", video, err)
	}
	if got := g.Phones.AwaitMessage(t, customerNumber, image.MessageID); got.Type != "image" || got.Caption != "new" || got.MediaSHA256 == "" {
		t.Errorf("the phone shows %+v", got)
	}
	if got := g.Phones.AwaitMessage(t, customerNumber, video.MessageID); got.Type != "video" || got.Chat != client.StatusChat {
		t.Errorf("the phone shows %+v", got)
	}
	if ids := statusPosts(t, g, id); len(ids) != 3 || !slices.Contains(ids, sent.MessageID) {
		t.Errorf("the posts are %v", ids)
	}

	// What can't be done with a post, and where it can't be written to.
	_, err = g.Client.EditMessage(t.Context(), id, client.EditMessage{MessageID: sent.MessageID, Message: "Fechado"})
	testkit.Refused(t, err, http.StatusBadRequest, "MESSAGE_NOT_EDITABLE")
	testkit.Refused(t, g.Client.SendReaction(t.Context(), id, client.Reaction{MessageID: sent.MessageID, Reaction: "👍"}), http.StatusBadRequest, "VALIDATION_ERROR")
	_, err = g.Client.SendText(t.Context(), id, client.Text{To: client.StatusChat, Message: "no recipient"})
	testkit.Refused(t, err, http.StatusBadRequest, "VALIDATION_ERROR")

	if err := g.Client.DeleteMessage(t.Context(), id, client.DeleteMessage{MessageID: sent.MessageID}); err != nil {
		t.Fatal(err)
	}
	testkit.Await(t, "the deletion on the phone", func() bool { return g.Phones.AwaitMessage(t, customerNumber, sent.MessageID).Deleted })

	// The owner leaves somebody out. The platform names them by an address that may be another than
	// that of the address book, which may have both.
	g.Phones.NameContact(t, shopNumber, g.Phones.Get(t, customerNumber).LID, "Ana Souza")
	sink.AwaitType("contact.updated", func(d testkit.Delivered) bool { return bytes.Contains(d.Event.Data, []byte("Ana Souza")) })
	for _, hidden := range []bool{false, true} {
		g.Phones.Update(t, customerNumber, map[string]any{"hideNumber": hidden})
		g.Phones.SetStatusAudience(t, shopNumber, "contacts")
		audience, err := g.Client.ListStatusAudience(t.Context(), id, 0, 0)
		if err != nil || len(audience.Data) != 1 {
			t.Errorf("the audience is %+v (%v)", audience, err)
		}
		g.Phones.SetStatusAudience(t, shopNumber, "blacklist", customerNumber)
		audience, err = g.Client.ListStatusAudience(t.Context(), id, 0, 0)
		if err != nil || audience.Rule != "contacts_except" || len(audience.Data) != 0 {
			t.Errorf("the audience is %+v (%v)", audience, err)
		}
		post, err := g.Client.PostStatusText(t.Context(), id, client.StatusText{Message: "not for Ana"})
		if err != nil {
			t.Fatal(err)
		}
		g.Phones.AwaitMessage(t, shopNumber, post.MessageID)
		direct, err := g.Client.SendText(t.Context(), id, client.Text{To: customerNumber, Message: "for Ana"})
		if err != nil {
			t.Fatal(err)
		}
		g.Phones.AwaitMessage(t, customerNumber, direct.MessageID) // it came after the post
		if g.Phones.Has(t, customerNumber, post.MessageID) {
			t.Errorf("somebody who was left out sees the post (by LID: %t)", hidden)
		}
	}
}

// A status post is shown to some people alone, if it says so: of those who see the posts, at once
// and out of the queue; whoever does not see them is an error, and so are some of those whom the
// owner has chosen one by one.
func TestStatusPostToSome(t *testing.T) {
	t.Parallel()
	const bruno, stranger = "5511988880005", "5511988880006"
	g := testkit.Start(t, testkit.Options{})
	for number, name := range cases.Sorted(map[string]string{customerNumber: "Ana", bruno: "Bruno"}) {
		g.Phones.NameContact(t, shopNumber, number, name)
	}
	id := g.Link(t, shopNumber)
	testkit.Await(t, "the address book", func() bool {
		audience, err := g.Client.ListStatusAudience(t.Context(), id, 0, 0)
		return err == nil && audience.TotalCount == 2
	})
	g.Phones.Update(t, customerNumber, map[string]any{"hideNumber": true})
	lid := g.Phones.Get(t, customerNumber).LID
	clip := client.DataURI("video/mp4", mediaFile(t, "clip.mp4"))
	for name, post := range cases.Sorted(map[string]func(audience ...string) (client.Sent, error){
		"a text": func(audience ...string) (client.Sent, error) {
			return g.Client.PostStatusText(t.Context(), id, client.StatusText{Message: "for Ana", Audience: audience})
		},
		"a queued video": func(audience ...string) (client.Sent, error) {
			return g.Client.PostStatusVideo(t.Context(), id, client.StatusVideo{Video: clip, Audience: audience, Prefer: client.RespondAsync})
		},
	}) {
		for _, audience := range [][]string{{customerNumber}, {lid, customerNumber}} {
			sent, err := post(audience...)
			if err != nil {
				t.Fatal(err)
			}
			g.Phones.AwaitMessage(t, customerNumber, sent.MessageID)
			direct, err := g.Client.SendText(t.Context(), id, client.Text{To: bruno, Message: "after it"})
			if err != nil {
				t.Fatal(err)
			}
			g.Phones.AwaitMessage(t, bruno, direct.MessageID) // it came after the post
			if g.Phones.Has(t, bruno, sent.MessageID) {
				t.Errorf("%s for %v is shown to somebody else", name, audience)
			}
		}
	}

	refused := func(code string, audience ...string) {
		t.Helper()
		_, err := g.Client.PostStatusText(t.Context(), id, client.StatusText{Message: "for nobody", Audience: audience})
		testkit.Refused(t, err, http.StatusBadRequest, code)
	}
	refused("STATUS_AUDIENCE_NOT_ALLOWED", customerNumber, stranger)
	refused("VALIDATION_ERROR", "120363040000000000@g.us")
	queued, err := g.Client.PostStatusText(t.Context(), id, client.StatusText{Message: "for nobody", Audience: []string{stranger}, Prefer: client.RespondAsync})
	if err != nil {
		t.Fatal(err)
	}
	testkit.Await(t, "the queued post to fail", func() bool {
		failed, err := g.Server.Messages().Find(t.Context(), id, gateway.ParseMessageRef(queued.ID))
		return err == nil && failed.Status == gateway.MessageFailed
	})
	g.Phones.SetStatusAudience(t, shopNumber, "blacklist", bruno)
	refused("STATUS_AUDIENCE_NOT_ALLOWED", bruno)
	g.Phones.SetStatusAudience(t, shopNumber, "whitelist", bruno, customerNumber)
	refused("STATUS_AUDIENCE_NOT_ALLOWED", bruno)
	both, err := g.Client.PostStatusText(t.Context(), id, client.StatusText{Message: "for both", Audience: []string{bruno, lid}})
	if err != nil {
		t.Fatal(err)
	}
	g.Phones.AwaitMessage(t, bruno, both.MessageID)
	g.Phones.AwaitMessage(t, customerNumber, both.MessageID)
}

// The status posts of contacts are received as messages, told to the webhooks that want them,
// read and deleted; and are no chat.
func TestStatusPostsOfContacts(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	g.Phones.NameContact(t, customerNumber, shopNumber, "The shop")
	id := g.Link(t, shopNumber)
	posts, direct := testkit.NewSink(t), testkit.NewSink(t)
	for kind, sink := range cases.Sorted(map[string]*testkit.Sink{client.ChatsStatus: posts, client.ChatsDirect: direct}) {
		if _, err := g.Client.CreateWebhook(t.Context(), id, client.NewWebhook{URL: sink.URL, Chats: []string{kind}}); err != nil {
			t.Fatal(err)
		}
	}
	text := g.Phones.SendText(t, customerNumber, client.StatusChat, "at the beach")
	image := g.Phones.Send(t, customerNumber, map[string]any{"to": client.StatusChat, "type": "image", "media": client.DataURI("image/png", picture(t)), "caption": "the sea"})
	received := posts.AwaitType("message.received", func(d testkit.Delivered) bool {
		var event client.MessageReceivedEvent
		if err := json.Unmarshal(d.Event.Data, &event); err != nil {
			t.Error(err)
		}
		return event.MessageID == text && event.Chat.Chat == client.StatusChat && !event.IsGroup && event.From != nil &&
			event.From.JID != nil && *event.From.JID == customerNumber+"@s.whatsapp.net" && event.Text != nil && *event.Text == "at the beach"
	})
	awaitMessage(t, g, id, image)
	if ids := statusPosts(t, g, id); !slices.Equal(ids, []string{image, text}) {
		t.Errorf("the posts are %v", ids)
	}
	if chats, err := g.Client.ListChats(t.Context(), id, client.ListChatsParams{}, 0, 0); err != nil || chats.TotalCount != 0 {
		t.Errorf("the chats are %+v (%v)", chats, err)
	}
	if _, err := g.Client.GetMediaDownloadLink(t.Context(), id, image); err != nil {
		t.Error(err)
	}
	if _, err := g.Client.MarkRead(t.Context(), id, client.MarkRead{MessageID: text}); err != nil {
		t.Fatal(err)
	}
	testkit.Await(t, "that the poster sees it", func() bool { return g.Phones.AwaitMessage(t, customerNumber, text).Status == "read" })

	// An answer goes to the poster, and quotes the post.
	answer, err := g.Client.SendText(t.Context(), id, client.Text{To: customerNumber, Message: "how nice", QuoteMessageID: text})
	if err != nil {
		t.Fatal(err)
	}
	if shown := g.Phones.AwaitMessage(t, customerNumber, answer.MessageID); shown.QuotedMessageID != text || shown.Chat != shopNumber+"@s.whatsapp.net" {
		t.Errorf("the phone shows %+v", shown)
	}

	g.Phones.Delete(t, customerNumber, text)
	posts.AwaitType("message.deleted", func(d testkit.Delivered) bool { return strings.Contains(string(d.Event.Data), text) })
	testkit.Await(t, "the deletion", func() bool { return kept(t, g, id, text).DeletedAt != nil })
	direct.AwaitType("message.sent", func(testkit.Delivered) bool { return true })
	for _, delivered := range direct.Delivered() {
		if delivered.Event.Sequence == received.Event.Sequence {
			t.Error("a webhook for direct chats got a status post")
		}
	}
}
