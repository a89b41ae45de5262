package server_test

import (
	"net/http"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/whatsapp"
)

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
