package server_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/api"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/needs"
)

// Rules that hold on every path: for each, the paths on which it could be forgotten.

// Somebody is mentioned in every form of a recipient, and phones find the name.
func TestMentionsHoldOnEveryPath(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	ctx := t.Context()
	group := g.Phones.CreateGroup(t, "team", customerNumber, shopNumber, memberNumber).ID
	who := "+55 (11) 97777-0100"
	text := "Hello @" + who + ", look"
	mentions := []string{who}
	file := client.DataURI("image/png", picture(t))
	paths := map[string]func(context.Context) (client.Sent, error){
		"text": func(ctx context.Context) (client.Sent, error) {
			return g.Client.SendText(ctx, id, client.Text{To: group, Message: text, Mentions: mentions})
		},
		"queue": func(ctx context.Context) (client.Sent, error) {
			return g.Client.SendText(ctx, id, client.Text{To: group, Message: text, Mentions: mentions, Prefer: client.RespondAsync})
		},
		"caption": func(ctx context.Context) (client.Sent, error) {
			return g.Client.SendImage(ctx, id, client.Image{To: group, Image: file, Caption: text, Mentions: mentions})
		},
		"document": func(ctx context.Context) (client.Sent, error) {
			return g.Client.SendDocument(ctx, id, client.Document{To: group, Document: file, Caption: text, Mentions: mentions})
		},
		"album": func(ctx context.Context) (client.Sent, error) {
			album, err := g.Client.SendAlbum(ctx, id, client.Album{To: group, Items: []client.AlbumItem{
				{Image: file, Caption: text, Mentions: mentions}, {Image: file},
			}})
			if err != nil {
				return client.Sent{}, err
			}
			return client.Sent{ID: *album.Items[0].ID, MessageID: *album.Items[0].MessageID}, nil
		},
		"edit": func(ctx context.Context) (client.Sent, error) {
			sent, err := g.Client.SendText(ctx, id, client.Text{To: group, Message: text, Mentions: mentions})
			if err != nil {
				return sent, err
			}
			return g.Client.EditMessage(ctx, id, client.EditMessage{MessageID: sent.ID, Message: text + " again"})
		},
		"forward": func(ctx context.Context) (client.Sent, error) {
			sent, err := g.Client.SendText(ctx, id, client.Text{To: group, Message: text, Mentions: mentions})
			if err != nil {
				return sent, err
			}
			return g.Client.ForwardMessage(ctx, id, client.Forward{To: group, MessageID: sent.ID})
		},
	}
	for path, send := range cases.Sorted(paths) {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			sent, err := send(ctx)
			if err != nil {
				t.Fatal(err)
			}
			awaitOnPhone(t, g, customerNumber, sent.MessageID, "the mention", func(m testkit.PhoneMessage) bool {
				if path == "edit" && !m.Edited {
					return false
				}
				if len(m.Mentions) != 1 || !strings.HasSuffix(m.Mentions[0], "@lid") {
					t.Errorf("it mentions %q", m.Mentions)
					return true
				}
				user, _, _ := strings.Cut(m.Mentions[0], "@")
				if shown := m.Text + m.Caption; !strings.HasPrefix(shown, "Hello @"+user+", look") {
					t.Errorf("it says %q, and mentions %q", shown, m.Mentions)
				}
				return true
			})
		})
	}
}

// A Brazilian number is looked up wherever a client writes one: the account may be under the form with a
// ninth digit or under the one without it. Each path here is given the form that the account has not, of
// somebody whom nobody has looked up before, and answers with the account that it has found.
func TestNumbersAreFoundOnEveryPath(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	ctx := t.Context()
	made, err := g.Client.CreateGroup(ctx, id, client.NewGroup{Subject: "Suppliers"})
	if err != nil {
		t.Fatal(err)
	}
	heard := awaitMessage(t, g, id, g.Phones.SendText(t, customerNumber, shopNumber, "Who is it?"))
	participant := func(given, action string) (string, error) {
		results, err := g.Client.ChangeGroupParticipants(ctx, id, made.ID, client.ParticipantChange{Action: action, Participants: []string{given}})
		if err != nil || len(results.Results) != 1 || results.Results[0].ID == nil || results.Results[0].Error != nil {
			return "", fmt.Errorf("it answered %+v (%w)", results, err)
		}
		return *results.Results[0].ID, nil
	}
	member := func(given, action string) (string, error) {
		if _, err := participant(given, client.ActionAdd); err != nil {
			return "", err
		}
		return participant(given, action)
	}
	// written is somebody who has written, so that there is a chat.
	written := func(account string) {
		awaitMessage(t, g, id, g.Phones.SendText(t, account, shopNumber, "Oi!"))
	}
	carded := func(given string, later bool) (string, error) {
		sent, err := g.Client.SendContact(ctx, id, client.Contact{To: customerNumber, Contact: client.Card{FullName: "Ana", PhoneNumber: given}, Prefer: testkit.Prefer(later)})
		if err != nil {
			return "", err
		}
		return g.Phones.AwaitMessage(t, customerNumber, sent.MessageID).Contact.PhoneNumber + "@s.whatsapp.net", nil
	}
	// reached is the account whose phone shows a message.
	reached := func(account, messageID string, err error) (string, error) {
		if err != nil {
			return "", err
		}
		g.Phones.AwaitMessage(t, account, messageID)
		return account + "@s.whatsapp.net", nil
	}
	for n, path := range []struct {
		name string
		does func(given, account string) (found string, err error)
	}{
		{"to", func(given, account string) (string, error) {
			sent, err := g.Client.SendText(ctx, id, client.Text{To: given, Message: "Oi!"})
			return reached(account, sent.MessageID, err)
		}},
		{"to, in the queue", func(given, account string) (string, error) {
			sent, err := g.Client.SendText(ctx, id, client.Text{To: given, Message: "Oi!", Prefer: client.RespondAsync})
			return reached(account, sent.MessageID, err)
		}},
		{"to, of a forwarded one", func(given, account string) (string, error) {
			sent, err := g.Client.ForwardMessage(ctx, id, client.Forward{To: given, MessageID: heard.ID})
			return reached(account, sent.MessageID, err)
		}},
		{"to, of an album", func(given, account string) (string, error) {
			file := client.DataURI("image/png", picture(t))
			album, err := g.Client.SendAlbum(ctx, id, client.Album{To: given, Items: []client.AlbumItem{{Image: file}, {Image: file}}})
			if err != nil {
				return "", err
			}
			return reached(account, *album.Items[1].MessageID, nil)
		}},
		{"a card", func(given, _ string) (string, error) { return carded(given, false) }},
		{"a card, in the queue", func(given, _ string) (string, error) { return carded(given, true) }},
		{"a mention", func(given, account string) (string, error) {
			sent, err := g.Client.SendText(ctx, id, client.Text{To: customerNumber, Message: "@" + given, Mentions: []string{given}})
			if err != nil {
				return "", err
			}
			shown := g.Phones.AwaitMessage(t, customerNumber, sent.MessageID)
			if lid := g.Phones.Get(t, account).LID; len(shown.Mentions) != 1 || shown.Mentions[0] != lid {
				return "", fmt.Errorf("it mentions %q, not %s", shown.Mentions, lid)
			}
			return account + "@s.whatsapp.net", nil
		}},
		{"the audience of a status post", func(given, account string) (string, error) {
			awaitAudience(ctx, t, g, id, account)
			sent, err := g.Client.PostStatusText(ctx, id, client.StatusText{Message: "Oi!", Audience: []string{given}})
			return reached(account, sent.MessageID, err)
		}},
		{"members of a new group", func(given, _ string) (string, error) {
			made, err := g.Client.CreateGroup(ctx, id, client.NewGroup{Subject: "Team", Participants: []string{given}})
			if err != nil || len(made.Results) != 1 || made.Results[0].ID == nil {
				return "", fmt.Errorf("it answered %+v (%w)", made, err)
			}
			return *made.Results[0].ID, nil
		}},
		{"a member that is added", func(given, _ string) (string, error) { return participant(given, client.ActionAdd) }},
		{"a member that is removed", func(given, _ string) (string, error) { return member(given, client.ActionRemove) }},
		{"a member that is promoted", func(given, _ string) (string, error) { return member(given, client.ActionPromote) }},
		{"check-numbers", func(given, _ string) (string, error) {
			checked, err := g.Client.CheckNumbers(ctx, id, client.CheckNumbers{Numbers: []string{given}})
			if err != nil {
				return "", err
			}
			return checked.Results[0].JID, nil
		}},
		{"typing", func(given, account string) (string, error) {
			if err := g.Client.SendPresence(ctx, id, client.Presence{To: given, Presence: client.PresenceComposing}); err != nil {
				return "", err
			}
			g.Phones.AwaitActivity(t, account, "chatstate", "composing")
			return account + "@s.whatsapp.net", nil
		}},
		{"presence", func(given, _ string) (string, error) {
			subscription, err := g.Client.SubscribePresence(ctx, id, given, client.NewSubscription{Hours: 1})
			return subscription.ID, err
		}},
		{"a profile picture", func(given, account string) (string, error) {
			g.Phones.Update(t, account, map[string]any{"profilePicture": client.DataURI("image/png", picture(t))})
			shown, err := g.Client.GetProfilePicture(ctx, id, given)
			if err != nil || shown.URL == nil {
				return "", fmt.Errorf("it answered %+v (%w)", shown, err)
			}
			return account + "@s.whatsapp.net", nil
		}},
		{"a contact", func(given, _ string) (string, error) {
			contact, err := g.Client.GetContact(ctx, id, given)
			return contact.ID, err
		}},
		{"the address book", func(given, account string) (string, error) {
			if _, err := g.Client.NameContact(ctx, id, given, client.ContactName{Name: "Ana"}); err != nil {
				return "", err
			}
			testkit.Await(t, "the name on the phone", func() bool { return g.Phones.AddressBook(t, shopNumber)[account+"@s.whatsapp.net"] == "Ana" })
			return account + "@s.whatsapp.net", nil
		}},
		{"a block", func(given, _ string) (string, error) {
			if err := g.Client.BlockContact(ctx, id, given); err != nil {
				return "", err
			}
			blocked, err := g.Client.ListBlocks(ctx, id, 1, 50)
			if err != nil || len(blocked.Data) != 1 {
				return "", fmt.Errorf("blocked are %+v (%w)", blocked, err)
			}
			return blocked.Data[0].ID, g.Client.UnblockContact(ctx, id, given)
		}},
		{"a chat", func(given, account string) (string, error) {
			written(account)
			chat, err := g.Client.GetChat(ctx, id, given)
			return chat.Chat, err
		}},
		{"the messages of a chat", func(given, account string) (string, error) {
			written(account)
			messages, err := g.Client.ListChatMessages(ctx, id, given, client.ListChatMessagesParams{}, 1, 50)
			if err != nil || len(messages.Data) != 1 {
				return "", fmt.Errorf("it answered %+v (%w)", messages, err)
			}
			return messages.Data[0].Chat.Chat, nil
		}},
		{"a chat that is archived", func(given, account string) (string, error) {
			written(account)
			chat, err := g.Client.ChangeChat(ctx, id, given, client.ChatChange{Archived: new(true)})
			return chat.Chat, err
		}},
	} {
		account := fmt.Sprintf("551177660%d1", n+10)
		given := "55119" + account[4:]
		if found, err := path.does(given, account); err != nil || found != account+"@s.whatsapp.net" {
			t.Errorf("%s: given %s, it found %q (%v)", path.name, given, found, err)
		}
	}
}

// awaitAudience makes somebody a contact of the shop: others do not see its status posts.
func awaitAudience(ctx context.Context, t *testing.T, g *testkit.Gateway, id, account string) {
	t.Helper()
	g.Phones.NameContact(t, shopNumber, account, "Ana")
	testkit.Await(t, "the contact", func() bool {
		page, err := g.Client.ListContacts(ctx, id, client.ListContactsParams{Search: account}, 1, 1)
		return err == nil && page.TotalCount == 1
	})
}

// Addresses are requested as a browser would: what is around them is dropped, and what an address can't
// have is escaped, wherever one is given, and where a server redirects to one.
func TestAddressesAreEscapedOnEveryPath(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	ctx := t.Context()
	file := picture(t)
	const odd, escaped = "loja=São Paulo&at=100%", "loja=S%C3%A3o%20Paulo&at=100%25"
	asked := make(chan string, 50)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.RequestURI
		switch r.URL.Path {
		case "/redirect":
			w.Header().Set("Location", "/picture?"+odd)
			w.WriteHeader(http.StatusFound)
		case "/page":
			_, _ = fmt.Fprintf(w, `<html><head><title>A page</title><meta property="og:image" content="/picture?%s"></head></html>`, odd)
		case "/picture":
			w.Header().Set("Content-Type", "image/png")
			_, _ = w.Write(file)
		}
	}))
	t.Cleanup(server.Close)
	address := " " + server.URL + "/picture?" + odd + "\n"
	made, err := g.Client.CreateGroup(ctx, id, client.NewGroup{Subject: "Suppliers"})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []struct {
		name string
		does func() error
		want []string // the paths that are requested
	}{
		{"a file", func() error {
			_, err := g.Client.SendImage(ctx, id, client.Image{To: customerNumber, Image: address})
			return err
		}, []string{"/picture?"}},
		{"a file in the queue", func() error {
			_, err := g.Client.SendImage(ctx, id, client.Image{To: customerNumber, Image: address, Prefer: client.RespondAsync})
			return err
		}, []string{"/picture?"}},
		{"a file of an album", func() error {
			_, err := g.Client.SendAlbum(ctx, id, client.Album{To: customerNumber, Items: []client.AlbumItem{{Image: address}, {Image: client.DataURI("image/png", file)}}})
			return err
		}, []string{"/picture?"}},
		{"a status post", func() error {
			awaitAudience(ctx, t, g, id, customerNumber)
			_, err := g.Client.PostStatusImage(ctx, id, client.StatusImage{Image: address, Audience: []string{customerNumber}})
			return err
		}, []string{"/picture?"}},
		{"a redirect", func() error {
			_, err := g.Client.SendImage(ctx, id, client.Image{To: customerNumber, Image: server.URL + "/redirect"})
			return err
		}, []string{"/redirect", "/picture?"}},
		{"the picture of a group", func() error {
			_, err := g.Client.ChangeGroup(ctx, id, made.ID, client.GroupChange{Picture: client.Set(address)})
			return err
		}, []string{"/picture?"}},
		{"the picture of the account", func() error {
			_, err := g.Client.ChangeProfile(ctx, id, client.ProfileChange{Picture: client.Set(address)})
			return err
		}, []string{"/picture?"}},
		{"a preview", func() error {
			_, err := g.Client.SendText(ctx, id, client.Text{To: customerNumber, Message: "look at " + server.URL + "/page", LinkPreview: true})
			return err
		}, []string{"/page", "/picture?"}},
		{"a webhook", func() error {
			hook, err := g.Client.SaveWebhookConfig(ctx, id, client.NewWebhookConfig{WebhookURL: address})
			if err == nil {
				_, err = g.Client.TestWebhook(ctx, id, hook.ID)
			}
			return err
		}, []string{"/picture?"}},
	} {
		if err := path.does(); err != nil {
			t.Fatalf("%s: %v", path.name, err)
		}
		for _, want := range path.want {
			if strings.HasSuffix(want, "?") {
				want += escaped
			}
			testkit.Await(t, path.name+", which requests "+want, func() bool {
				select {
				case got := <-asked:
					if got != want {
						t.Errorf("%s: requested %s, want %s", path.name, got, want)
					}
					return true
				default:
					return false
				}
			})
		}
	}
}

// A number is taken as people write it, in every field and every path that has one.
func TestSpellingsAreReadOnEveryPath(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	ctx := t.Context()
	paths := map[string]func(given string) (string, error){
		"to": func(given string) (string, error) {
			sent, err := g.Client.SendText(ctx, id, client.Text{To: given, Message: "Oi!"})
			if err != nil {
				return "", err
			}
			message, err := g.Client.GetMessage(ctx, id, sent.ID)
			return message.Chat.Chat, err
		},
		"a card": func(given string) (string, error) {
			sent, err := g.Client.SendContact(ctx, id, client.Contact{To: customerNumber, Contact: client.Card{FullName: "Ana", PhoneNumber: given}})
			if err != nil {
				return "", err
			}
			return g.Phones.AwaitMessage(t, customerNumber, sent.MessageID).Contact.PhoneNumber + "@s.whatsapp.net", nil
		},
		"a mention": func(given string) (string, error) {
			sent, err := g.Client.SendText(ctx, id, client.Text{To: customerNumber, Message: "@" + given, Mentions: []string{given}})
			if err != nil {
				return "", err
			}
			message, err := g.Client.GetMessage(ctx, id, sent.ID)
			if err != nil || len(message.Mentions) != 1 || message.Mentions[0].JID == nil {
				return "", fmt.Errorf("it mentions %+v (%w)", message.Mentions, err)
			}
			return *message.Mentions[0].JID, nil
		},
		"members": func(given string) (string, error) {
			made, err := g.Client.CreateGroup(ctx, id, client.NewGroup{Subject: "Team", Participants: []string{given}})
			if err != nil || len(made.Results) != 1 || made.Results[0].ID == nil {
				return "", fmt.Errorf("it answered %+v (%w)", made, err)
			}
			return *made.Results[0].ID, nil
		},
		"check-numbers": func(given string) (string, error) {
			checked, err := g.Client.CheckNumbers(ctx, id, client.CheckNumbers{Numbers: []string{given}})
			if err != nil {
				return "", err
			}
			return checked.Results[0].JID, nil
		},
		"a contact": func(given string) (string, error) {
			contact, err := g.Client.GetContact(ctx, id, given)
			return contact.ID, err
		},
		"presence": func(given string) (string, error) {
			subscription, err := g.Client.SubscribePresence(ctx, id, given, client.NewSubscription{Hours: 1})
			return subscription.ID, err
		},
		"a chat": func(given string) (string, error) {
			if _, err := g.Client.SendText(ctx, id, client.Text{To: given, Message: "Oi!"}); err != nil {
				return "", err
			}
			chat, err := g.Client.GetChat(ctx, id, given)
			return chat.Chat, err
		},
	}
	for spelling, c := range cases.Sorted(map[string]struct{ given, account string }{
		"with a plus, brackets and a dash":    {"+55 (11) 98888-7766", customerNumber},
		"a trunk zero in brackets":            {"+55 (0)11 98888-7766", customerNumber},
		"without the country":                 {"11988887766", customerNumber},
		"without the ninth digit":             {"+55 11 8888-7766", customerNumber},
		"invisible characters":                {"\u202a+55\u00a011\u00a098888\u20117766\u202c", customerNumber},
		"Mexico, as it is written today":      {"+52 55 1234 5678", "5215512345678"},
		"Mexico, with the one of mobiles":     {"+52 1 55 1234 5678", "5215512345678"},
		"Argentina, as it is written at home": {"+54 11 5555-1234", "5491155551234"},
		"Argentina, with the nine of mobiles": {"+54 9 11 5555-1234", "5491155551234"},
	}) {
		for path, find := range cases.Sorted(paths) {
			if found, err := find(c.given); err != nil || found != c.account+"@s.whatsapp.net" {
				t.Errorf("%s, %s: it is %q (%v), want %s", path, spelling, found, err, c.account)
			}
		}
	}
}

// What phones don't open is converted wherever a file is sent. Here are files that they don't open, and the
// phones of the recipients say what they think of what they get.
func TestFilesAreConvertedOnEveryPath(t *testing.T) {
	t.Parallel()
	needs.Require(t, "ffmpeg")
	g, id := testkit.StartLinked(t, testkit.Options{})
	ctx := t.Context()
	awaitAudience(ctx, t, g, id, customerNumber)
	channel, err := g.Client.CreateChannel(ctx, id, client.NewChannel{Name: "The shop"})
	if err != nil {
		t.Fatal(err)
	}
	webm := client.DataURI("video/webm", mediaFile(t, "clip.webm"))
	mp3 := client.DataURI("audio/mpeg", mediaFile(t, "tone.mp3"))
	webp := client.DataURI("image/webp", mediaFile(t, "sticker.webp"))
	for path, c := range cases.Sorted(map[string]struct {
		send func() (client.Sent, error)
		want string // the type of what is sent
	}{
		"a video": {func() (client.Sent, error) {
			return g.Client.SendVideo(ctx, id, client.Video{To: customerNumber, Video: webm})
		}, "video/mp4"},
		"a video in the queue": {func() (client.Sent, error) {
			return g.Client.SendVideo(ctx, id, client.Video{To: customerNumber, Video: webm, Prefer: client.RespondAsync})
		}, "video/mp4"},
		"a video for one look": {func() (client.Sent, error) {
			return g.Client.SendVideo(ctx, id, client.Video{To: customerNumber, Video: webm, ViewOnce: true})
		}, "video/mp4"},
		"a video note": {func() (client.Sent, error) {
			return g.Client.SendVideoNote(ctx, id, client.VideoNote{To: customerNumber, Video: webm})
		}, "video/mp4"},
		"a video of an album": {func() (client.Sent, error) {
			album, err := g.Client.SendAlbum(ctx, id, client.Album{To: customerNumber, Items: []client.AlbumItem{{Video: webm}, {Image: webp}}})
			if err != nil {
				return client.Sent{}, err
			}
			return client.Sent{ID: *album.Items[0].ID, MessageID: *album.Items[0].MessageID}, nil
		}, "video/mp4"},
		"a video as a status post": {func() (client.Sent, error) {
			return g.Client.PostStatusVideo(ctx, id, client.StatusVideo{Video: webm, Audience: []string{customerNumber}})
		}, "video/mp4"},
		"a video in a channel": {func() (client.Sent, error) {
			return g.Client.SendVideo(ctx, id, client.Video{To: channel.ID, Video: webm})
		}, "video/mp4"},
		"a voice note": {func() (client.Sent, error) {
			return g.Client.SendVoiceNote(ctx, id, client.VoiceNote{To: customerNumber, Audio: mp3})
		}, "audio/ogg; codecs=opus"},
		"a voice note as a status post": {func() (client.Sent, error) {
			return g.Client.PostStatusVoice(ctx, id, client.StatusVoice{Audio: mp3, Audience: []string{customerNumber}})
		}, "audio/ogg; codecs=opus"},
		"a picture": {func() (client.Sent, error) {
			return g.Client.SendImage(ctx, id, client.Image{To: customerNumber, Image: webp})
		}, "image/jpeg"},
		"a picture as a status post": {func() (client.Sent, error) {
			return g.Client.PostStatusImage(ctx, id, client.StatusImage{Image: webp, Audience: []string{customerNumber}})
		}, "image/jpeg"},
		"a picture in a channel": {func() (client.Sent, error) {
			return g.Client.SendImage(ctx, id, client.Image{To: channel.ID, Image: webp})
		}, "image/jpeg"},
	}) {
		sent, err := c.send()
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		testkit.Await(t, path, func() bool {
			message, err := g.Client.GetMessage(ctx, id, sent.ID)
			if err != nil || message.Media == nil || message.Status == "pending" {
				return false
			}
			if message.Media.MimeType != c.want {
				t.Errorf("%s is sent as %s, want %s", path, message.Media.MimeType, c.want)
			}
			return true
		})
	}
}

// measured returns the value of a metric of a gateway; -1 if there is none.
func measured(t *testing.T, g *testkit.Gateway, series string) float64 {
	t.Helper()
	response, err := http.Get(g.Server.AdminURL() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	page, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(page)) {
		if text, ok := strings.CutPrefix(line, series+" "); ok {
			value, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil {
				t.Fatal(err)
			}
			return value
		}
	}
	return -1
}

// What is uploaded on the dashboard counts as what is sent to the API, and is held on the disk.
func TestUploadsOfTheDashboardAreCounted(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	g, id := testkit.StartLinked(t, testkit.Options{Admin: true, Media: media.Config{MaxBytes: size}, Limits: api.Limits{Bodies: 1}})
	v := newOwner(t, g)
	upload := func() (into io.Writer, finish func() (status int, retry string)) {
		from, to := io.Pipe()
		form := multipart.NewWriter(to)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.BaseURL+"/instances/"+id+"/messages", from)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", form.FormDataContentType())
		answered, retry := make(chan int, 1), ""
		go func() {
			response, err := v.web.Do(request)
			if err != nil {
				t.Error(err)
				answered <- 0
				return
			}
			_ = errors.Join(response.Body.Close(), from.Close())
			retry = response.Header.Get("Retry-After")
			answered <- response.StatusCode // after retry, which is read after it
		}()
		err = errors.Join(form.WriteField("to", customerNumber), form.WriteField("kind", "document"))
		part, formErr := form.CreateFormFile("file", "prices.txt")
		if err = errors.Join(err, formErr); err != nil {
			t.Fatal(err)
		}
		return part, func() (int, string) {
			_ = errors.Join(form.Close(), to.Close()) // the answer may have come before
			return <-answered, retry
		}
	}
	file := bytes.Repeat([]byte("a line of prices"), size/16)
	const held = `recado_shared_held{pool="bodies"}`
	var finish []func() (int, string)
	limit := measured(t, g, `recado_shared_limit{pool="bodies"}`)
	for n := 1; float64((n+1)*size) < limit*9/16; n++ {
		into, done := upload()
		if _, err := into.Write(file); err != nil {
			t.Fatal(err)
		}
		testkit.Await(t, "the file to be counted", func() bool { return measured(t, g, held) >= float64(n*size) })
		finish = append(finish, done)
	}
	account, err := g.Server.Access().EnsureAccount(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	if got := measured(t, g, `recado_shared_held_by_account{account="`+account.ID+`",pool="bodies"}`); got < float64(len(finish)*size) {
		t.Errorf("the account is said to hold %.0f bytes", got)
	}
	for range 2 { // one of them is too many in any case
		into, done := upload()
		_, _ = into.Write(file)
		finish = append(finish, done)
	}
	refused := 0
	for _, done := range finish {
		switch status, retry := done(); {
		case status == http.StatusServiceUnavailable && retry == "1":
			refused++
		case status != http.StatusOK:
			t.Errorf("answered %d, Retry-After %q", status, retry)
		}
	}
	if refused == 0 || refused > 2 {
		t.Errorf("%d were refused", refused)
	}
	testkit.Await(t, "nothing to be held", func() bool { return measured(t, g, held) == 0 })
}

// A user has as many live pages as a key has streams, and whoever has no more is told when to come back.
func TestLivePagesOfAUserAreLimited(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{Admin: true, Limits: api.Limits{Streams: 3}})
	v := newOwner(t, g)
	open := func(n int) (status int, retry string, leave func() error) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.BaseURL+"/instances/"+id+"/chats/live?search=a"+strconv.Itoa(n), http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := v.web.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = response.Body.Close() })
		return response.StatusCode, response.Header.Get("Retry-After"), response.Body.Close
	}
	status, _, leave := open(0)
	for n := 1; n < 3 && status == http.StatusOK; n++ {
		status, _, _ = open(n)
	}
	if status != http.StatusOK {
		t.Fatalf("a page is answered %d", status)
	}
	if status, retry, _ := open(3); status != http.StatusTooManyRequests || retry != "5" {
		t.Errorf("one too many is answered %d, Retry-After %q", status, retry)
	}
	if status, _, _ := v.get("/instances/" + id + "/chats"); status != http.StatusOK {
		t.Errorf("a page that is not live is answered %d", status)
	}
	if got := measured(t, g, `recado_shared_held{pool="streams"}`); got != 3 {
		t.Errorf("%.0f streams are counted", got)
	}
	_ = leave()
	testkit.Await(t, "room for another page", func() bool {
		status, _, _ := open(4)
		return status == http.StatusOK
	})
}
