package server_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
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
