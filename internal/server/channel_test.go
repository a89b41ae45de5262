package server_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/whatsapp"
)

// What is written in a channel that the account follows arrives as a message, is read and reacted
// to; what is changed there, and what the owner does on the phone, is told.
func TestChannelsAreFollowed(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	ctx := t.Context()
	news := g.Phones.CreateChannel(t, customerNumber, "News\u202e of Ana", "one", "two", "three")
	list := func() (names []string) {
		t.Helper()
		for channel, err := range g.Client.Channels(ctx, id, client.ListChannelsParams{}) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, channel.Name+" "+channel.Role+" "+strconv.FormatBool(channel.Muted))
		}
		return names
	}
	sink := testkit.NewSink(t)
	if _, err := g.Client.CreateWebhook(ctx, id, client.NewWebhook{URL: sink.URL, Chats: []string{client.ChatsChannel}, Events: []string{client.TypeMessageReceived, client.TypeMessageEdited, client.TypeMessageDeleted, client.TypeChannelUpdated}}); err != nil {
		t.Fatal(err)
	}
	if got := list(); len(got) != 0 {
		t.Errorf("at first there are %v", got)
	}

	// By its link, and followed.
	found, err := g.Client.GetChannel(ctx, id, gateway.ChannelLink(news.Invite))
	if err != nil || found.ID != news.ID || found.Name != "News of Ana" || found.Role != client.RoleGuest || *found.Link != gateway.ChannelLink(news.Invite) {
		t.Fatalf("the link leads to %+v, %v", found, err)
	}
	for range 2 { // the second time changes nothing
		if err := g.Client.FollowChannel(ctx, id, gateway.ChannelLink(news.Invite)); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.Client.MuteChannel(ctx, id, news.ID); err != nil {
		t.Fatal(err)
	}
	if got := list(); !slices.Equal(got, []string{"News of Ana follower true"}) {
		t.Errorf("the list is %v", got)
	}

	// A post arrives as a message of the channel.
	post := g.Phones.Post(t, news.ID, "four", nil)
	received := sink.Await("the post", func(taken []testkit.Delivered) bool { return len(taken) == 1 })[0]
	var message client.Message
	if err := json.Unmarshal(received.Event.Data, &message); err != nil {
		t.Fatal(err)
	}
	if message.Chat.Chat != news.ID || message.MessageID != post.MessageID || *message.Text != "four" || message.IsGroup || message.FromMe {
		t.Errorf("received %+v", message)
	}

	// Edited, and deleted: no one else can do it.
	g.Phones.Rewrite(t, news.ID, post.ServerID, "four!")
	sink.Await("the edit", func(taken []testkit.Delivered) bool { return len(taken) == 2 })
	g.Phones.Rewrite(t, news.ID, post.ServerID, "")
	sink.Await("the deletion", func(taken []testkit.Delivered) bool { return len(taken) == 3 })
	if kept, err := g.Client.GetMessage(ctx, id, post.MessageID); err != nil || kept.DeletedAt == nil || kept.EditedAt == nil {
		t.Errorf("the post is kept as %+v, %v", kept, err)
	}
	post = g.Phones.Post(t, news.ID, "five", nil)
	sink.Await("the next post", func(taken []testkit.Delivered) bool { return len(taken) == 4 })

	// Read from both sides.
	for name, want := range cases.Sorted(map[string]struct {
		query client.ListChannelPostsParams
		texts []string
	}{
		"the newest": {client.ListChannelPostsParams{Limit: 3}, []string{"three", "", "five"}},
		"before":     {client.ListChannelPostsParams{Before: 3, Limit: 1}, []string{"two"}},
		"after":      {client.ListChannelPostsParams{After: 1, Limit: 2}, []string{"two", "three"}},
	}) {
		posts, err := g.Client.ListChannelPosts(ctx, id, news.ID, want.query)
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, post := range posts.Data {
			if (post.Text == nil) != post.Deleted {
				t.Errorf("a post is %+v", post)
			}
			texts = append(texts, textOf(post))
		}
		if !slices.Equal(texts, want.texts) {
			t.Errorf("%s: %v", name, texts)
		}
	}

	// Reactions: by number, and by the identifier of the message that came.
	for _, name := range []string{"2", post.MessageID} {
		if err := g.Client.ReactToPost(ctx, id, news.ID, name, client.ChannelReaction{Reaction: "👍"}); err != nil {
			t.Fatal(err)
		}
	}
	if shown := g.Phones.Channel(t, news.ID).Posts; shown[1].Reactions["👍"] != 1 || shown[4].Reactions["👍"] != 1 {
		t.Errorf("the phone shows %+v", shown)
	}
	err = g.Client.ReactToPost(ctx, id, news.ID, "77", client.ChannelReaction{Reaction: "👍"})
	testkit.Refused(t, err, http.StatusNotFound, gateway.CodeChannelNotFound)
	err = g.Client.ReactToPost(ctx, id, news.ID, "3EB0", client.ChannelReaction{Reaction: "👍"})
	testkit.Refused(t, err, http.StatusNotFound, gateway.CodeMessageNotFound)
	err = g.Client.SendReaction(ctx, id, client.Reaction{MessageID: post.MessageID, Reaction: "👍"})
	testkit.Refused(t, err, http.StatusBadRequest, gateway.CodeValidation)
	if posts, err := g.Client.ListChannelPosts(ctx, id, news.ID, client.ListChannelPostsParams{Limit: 1}); err != nil ||
		!slices.Equal(posts.Data[0].Reactions, []client.PostReaction{{Reaction: "👍", Count: 1}}) {
		t.Errorf("the reactions are %+v, %v", posts, err)
	}

	// Who follows does not write.
	_, err = g.Client.SendText(ctx, id, client.Text{To: news.ID, Message: "mine?"})
	testkit.Refused(t, err, http.StatusForbidden, gateway.CodeChannelOwner)

	// On the phone.
	g.Phones.UnfollowChannel(t, shopNumber, news.ID)
	g.Phones.FollowChannel(t, shopNumber, news.ID, true)
	var changes []string
	for _, event := range sink.Await("the changes on the phone", func(taken []testkit.Delivered) bool { return len(taken) == 7 })[4:] {
		var change client.ChannelUpdatedEvent
		if err := json.Unmarshal(event.Event.Data, &change); err != nil || change.ChannelID != news.ID {
			t.Errorf("told of %s", event.Event.Data)
		}
		changes = append(changes, change.Change)
	}
	if !slices.Equal(changes, []string{client.ChangeUnfollowed, client.ChangeFollowed, client.ChangeMuted}) {
		t.Errorf("told of %v", changes)
	}

	// What the platform refuses.
	g.Phones.SetChannel(t, news.ID, map[string]any{"blocked": true})
	_, err = g.Client.ListChannelPosts(ctx, id, news.ID, client.ListChannelPostsParams{})
	testkit.Refused(t, err, http.StatusForbidden, gateway.CodeChannelBlocked)
	if err := g.Client.UnfollowChannel(ctx, id, news.ID); err != nil {
		t.Fatal(err)
	}
	g.Phones.SetChannel(t, news.ID, map[string]any{"blocked": false, "private": true})
	testkit.Refused(t, g.Client.FollowChannel(ctx, id, news.ID), http.StatusForbidden, gateway.CodeChannelPrivate)
	_, err = g.Client.ListChannelPosts(ctx, id, news.ID, client.ListChannelPostsParams{})
	testkit.Refused(t, err, http.StatusForbidden, gateway.CodeChannelPrivate)
	g.Phones.DeleteChannel(t, news.ID)
	_, err = g.Client.GetChannel(ctx, id, news.ID)
	testkit.Refused(t, err, http.StatusGone, gateway.CodeChannelGone)
	_, err = g.Client.GetChannel(ctx, id, "120364999999999999@newsletter")
	testkit.Refused(t, err, http.StatusNotFound, gateway.CodeChannelNotFound)
	_, err = g.Client.GetChannel(ctx, id, customerNumber+"@s.whatsapp.net")
	testkit.Refused(t, err, http.StatusBadRequest, gateway.CodeValidation)
}

// An account has channels of its own: it writes texts into them, edits and deletes them.
func TestOwnChannel(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	ctx := t.Context()
	made, err := g.Client.CreateChannel(ctx, id, client.NewChannel{Name: "The shop", Description: "every Friday", Picture: client.DataURI("image/png", picture(t))})
	if err != nil || made.Role != client.RoleOwner || made.PictureURL == nil || *made.Description != "every Friday" {
		t.Fatalf("made %+v, %v", made, err)
	}
	sent, err := g.Client.SendText(ctx, id, client.Text{To: made.ID, Message: "New: mugs"})
	if err != nil {
		t.Fatal(err)
	}
	shown := func() testkit.ChannelPost {
		t.Helper()
		posts := g.Phones.Channel(t, made.ID).Posts
		if len(posts) != 1 || posts[0].MessageID != sent.MessageID {
			t.Fatalf("the phone shows %+v", posts)
		}
		return posts[0]
	}
	if got := shown().Text; got != "New: mugs" {
		t.Errorf("the phone shows %q", got)
	}
	if _, err := g.Client.EditMessage(ctx, id, client.EditMessage{MessageID: sent.MessageID, Message: "New: big mugs"}); err != nil {
		t.Fatal(err)
	}
	if got := shown().Text; got != "New: big mugs" {
		t.Errorf("the phone shows %q", got)
	}
	if err := g.Client.DeleteMessage(ctx, id, client.DeleteMessage{MessageID: sent.MessageID}); err != nil {
		t.Fatal(err)
	}
	if !shown().Deleted {
		t.Error("the phone shows it still")
	}
	posts, err := g.Client.ListChannelPosts(ctx, id, made.ID, client.ListChannelPostsParams{})
	if err != nil || len(posts.Data) != 1 || !posts.Data[0].Deleted || posts.Data[0].Text != nil {
		t.Errorf("the posts are %+v, %v", posts, err)
	}
	_, err = g.Client.SendLocation(ctx, id, client.Location{To: made.ID, Latitude: 1, Longitude: 1})
	testkit.Refused(t, err, http.StatusBadRequest, gateway.CodeChannelContent)
	testkit.Refused(t, g.Client.UnfollowChannel(ctx, id, made.ID), http.StatusForbidden, gateway.CodeChannelOwner)
	_, err = g.Client.CreateChannel(ctx, id, client.NewChannel{Name: " "})
	testkit.Refused(t, err, http.StatusBadRequest, gateway.CodeValidation)
}

func textOf(post client.ChannelPost) string {
	if post.Text == nil {
		return ""
	}
	return *post.Text
}

// Files are written into a channel as texts are: followers see them and fetch them as they were
// given. Nothing of it depends on how they came there, nor on whether an acknowledgement was lost.
func TestFilesInChannels(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{Platform: whatsapp.Config{SendTimeout: answerWait}})
	ctx := t.Context()
	own, err := g.Client.CreateChannel(ctx, id, client.NewChannel{Name: "The shop"})
	if err != nil {
		t.Fatal(err)
	}
	drawn, paper := picture(t), []byte("%PDF-1.4\n%a document\n")
	seen := func(sent client.Sent) (found testkit.ChannelPost) {
		t.Helper()
		testkit.Await(t, "the post "+sent.MessageID, func() bool {
			for _, post := range g.Phones.Channel(t, own.ID).Posts {
				if post.MessageID == sent.MessageID {
					found = post
				}
			}
			return found.MessageID != ""
		})
		return found
	}
	shows := func(sent client.Sent, err error, kind, caption string, file []byte) testkit.ChannelPost {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			return testkit.ChannelPost{}
		}
		post := seen(sent)
		if post.Type != kind || post.Caption != caption || post.MediaSHA256 != sum(file) {
			t.Errorf("instead of the %s, followers see %+v", kind, post)
		}
		return post
	}

	// Every kind, at once and from the queue.
	image := client.Image{To: own.ID, Image: client.DataURI("image/png", drawn), Caption: "mugs"}
	sent, err := g.Client.SendImage(ctx, id, image)
	if post := shows(sent, err, "image", "mugs", drawn); !post.Picture {
		t.Errorf("there is no small picture in %+v", post)
	}
	if link, err := g.Client.GetMediaDownloadLink(ctx, id, sent.MessageID); err != nil || sum(download(t, link.URL)) != sum(drawn) {
		t.Errorf("the owner does not get the file of the post: %v", err)
	}
	clip := mediaFile(t, "clip.mp4")
	video, err := g.Client.SendVideo(ctx, id, client.Video{To: own.ID, Video: client.DataURI("video/mp4", clip), Caption: "turning"})
	shows(video, err, "video", "turning", clip)
	tone := mediaFile(t, "tone.mp3")
	audio, err := g.Client.SendAudioFile(ctx, id, client.AudioFile{To: own.ID, Audio: client.DataURI("audio/mpeg", tone)})
	shows(audio, err, "audio", "", tone)
	voice := mediaFile(t, "voice.ogg")
	note, err := g.Client.SendVoiceNote(ctx, id, client.VoiceNote{To: own.ID, Audio: client.DataURI("audio/ogg", voice)})
	shows(note, err, "voice", "", voice)
	label := mediaFile(t, "sticker.webp")
	sticker, err := g.Client.SendSticker(ctx, id, client.Sticker{To: own.ID, Sticker: client.DataURI("image/webp", label)})
	shows(sticker, err, "sticker", "", label)
	document := client.Document{To: own.ID, Document: client.DataURI("application/pdf", paper), FileName: "prices.pdf", Caption: "prices", Prefer: client.RespondAsync}
	queued, err := g.Client.SendDocument(ctx, id, document)
	if post := shows(queued, err, "document", "prices", paper); post.FileName != "prices.pdf" {
		t.Errorf("the document is %+v", post)
	}

	// A lost acknowledgement: the repeat finds the handle of the upload with the message.
	g.Phones.Faults(t, map[string]any{"dropAcks": 1})
	image.IdempotencyKey = "friday"
	_, err = g.Client.SendImage(ctx, id, image)
	testkit.Refused(t, err, http.StatusGatewayTimeout, gateway.CodePlatformTimeout)
	g.Phones.Faults(t, map[string]any{})
	posts := len(g.Phones.Channel(t, own.ID).Posts)
	again, err := g.Client.SendImage(ctx, id, image)
	shows(again, err, "image", "mugs", drawn)
	if now := len(g.Phones.Channel(t, own.ID).Posts); !again.IdempotencyReplayed || now != posts {
		t.Errorf("%+v, and there are %d posts instead of %d", again, now, posts)
	}

	// Forwarded into the channel, out of it, and from one to another.
	came := g.Phones.Send(t, customerNumber, map[string]any{"to": shopNumber, "type": "image", "media": client.DataURI("image/png", drawn), "caption": "look"})
	awaitMessage(t, g, id, came)
	forwarded, err := g.Client.ForwardMessage(ctx, id, client.Forward{To: own.ID, MessageID: came})
	shows(forwarded, err, "image", "look", drawn)
	forwarded, err = g.Client.ForwardMessage(ctx, id, client.Forward{To: own.ID, MessageID: sent.MessageID, Prefer: client.RespondAsync})
	shows(forwarded, err, "image", "mugs", drawn)
	forwarded, err = g.Client.ForwardMessage(ctx, id, client.Forward{To: customerNumber, MessageID: sent.MessageID})
	if err != nil {
		t.Fatal(err)
	}
	if shown := g.Phones.AwaitMessage(t, customerNumber, forwarded.MessageID); shown.MediaSHA256 != sum(drawn) || !shown.Forwarded {
		t.Errorf("the customer sees %+v", shown)
	}

	// What channels do not take.
	image.IdempotencyKey, image.ViewOnce = "", true
	_, err = g.Client.SendImage(ctx, id, image)
	testkit.Refused(t, err, http.StatusBadRequest, gateway.CodeChannelContent)
	_, err = g.Client.SendVideoNote(ctx, id, client.VideoNote{To: own.ID, Video: client.DataURI("video/mp4", clip)})
	testkit.Refused(t, err, http.StatusBadRequest, gateway.CodeChannelContent)
	_, err = g.Client.SendPoll(ctx, id, client.Poll{To: own.ID, Question: "?", Options: []string{"a", "b"}, Prefer: client.RespondAsync})
	testkit.Refused(t, err, http.StatusBadRequest, gateway.CodeChannelContent)

	// An upload without a handle.
	posts = len(g.Phones.Channel(t, own.ID).Posts)
	g.Phones.Faults(t, map[string]any{"dropHandles": true})
	image.ViewOnce = false
	_, err = g.Client.SendImage(ctx, id, image)
	testkit.Refused(t, err, http.StatusBadGateway, gateway.CodePlatformError)
	g.Phones.Faults(t, map[string]any{})
	if now := len(g.Phones.Channel(t, own.ID).Posts); now != posts {
		t.Errorf("there are %d posts instead of %d", now, posts)
	}
}

// The file of a post is fetched as that of any message.
func TestFilesOfPostsAreFetched(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	news := g.Phones.CreateChannel(t, customerNumber, "News")
	g.Phones.FollowChannel(t, shopNumber, news.ID, false)
	drawn := picture(t)
	post := g.Phones.PostFile(t, news.ID, "image", client.DataURI("image/png", drawn), "mugs")
	if message := awaitMessage(t, g, id, post.MessageID); message.Type != gateway.TypeImage || message.Text != "mugs" {
		t.Errorf("received %+v", message)
	}
	link, err := g.Client.GetMediaDownloadLink(t.Context(), id, post.MessageID)
	if err != nil || sum(download(t, link.URL)) != sum(drawn) {
		t.Errorf("the file is not the one that was posted: %v", err)
	}
}

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
