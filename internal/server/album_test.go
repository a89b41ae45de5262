package server_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/testkit"
)

// album returns the identifiers of the messages of an album that a phone shows, in their order.
func album(t *testing.T, g *testkit.Gateway, number, albumID string) (ids []string) {
	t.Helper()
	for _, message := range g.Phones.Messages(t, number, "") {
		if message.AlbumID == albumID {
			ids = append(ids, message.MessageID)
		}
	}
	return ids
}

// ids are the identifiers of what was sent of an album; "" for what was not.
func ids(sent client.SentAlbum) []string {
	all := make([]string, len(sent.Items))
	for n, item := range sent.Items {
		if item.MessageID != nil {
			all[n] = *item.MessageID
		}
	}
	return all
}

// An album is a frame, and messages that name it: sent at once and from the queue, under a key
// only once, and received.
func TestAlbums(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	sink := followChats(t, g, id).Sink
	shown, clip := client.DataURI("image/png", picture(t)), client.DataURI("video/mp4", mediaFile(t, "clip.mp4"))
	items := []client.AlbumItem{{Image: shown, Caption: "front"}, {Image: shown}, {Video: clip, Caption: "moving"}}

	request := client.Album{To: customerNumber, Items: items, IdempotencyKey: "catalogue"}
	sent, err := g.Client.SendAlbum(t.Context(), id, request)
	if err != nil || len(sent.Items) != 3 || slices.Contains(ids(sent), "") {
		t.Fatalf("sent %+v (%v)", sent, err)
	}
	if frame := g.Phones.AwaitMessage(t, customerNumber, sent.MessageID); frame.Type != "album" || frame.Album == nil || *frame.Album != (content.Album{Images: 2, Videos: 1}) {
		t.Errorf("the phone shows %+v", frame)
	}
	testkit.Await(t, "the album", func() bool { return slices.Equal(album(t, g, customerNumber, sent.MessageID), ids(sent)) })
	if video := g.Phones.AwaitMessage(t, customerNumber, ids(sent)[2]); video.Type != "video" || video.Caption != "moving" || video.MediaSHA256 == "" {
		t.Errorf("the phone shows %+v", video)
	}
	if message := kept(t, g, id, ids(sent)[0]); message.AlbumID == nil || *message.AlbumID != sent.MessageID || message.Type != "image" {
		t.Errorf("kept %+v", message)
	}
	again, err := g.Client.SendAlbum(t.Context(), id, request)
	if err != nil || !again.IdempotencyReplayed || again.MessageID != sent.MessageID || !slices.Equal(ids(again), ids(sent)) {
		t.Errorf("the repeat sent %+v (%v)", again, err)
	}

	// Nothing is sent if a file is wrong.
	before := len(g.Phones.Messages(t, customerNumber, ""))
	_, err = g.Client.SendAlbum(t.Context(), id, client.Album{To: customerNumber, Items: []client.AlbumItem{{Image: shown}, {Image: clip}}})
	testkit.Refused(t, err, http.StatusBadRequest, client.CodeValidationError)
	marker := sendText(t, g, id, "after it")
	g.Phones.AwaitMessage(t, customerNumber, marker.MessageID)
	if after := len(g.Phones.Messages(t, customerNumber, "")); after != before+1 {
		t.Errorf("%d messages more on the phone instead of one", after-before)
	}

	// From the queue, in the same order.
	later, err := g.Client.SendAlbum(t.Context(), id, client.Album{To: customerNumber, Items: items, Prefer: client.RespondAsync})
	if err != nil || !later.Accepted || slices.Contains(ids(later), "") {
		t.Fatalf("queued %+v (%v)", later, err)
	}
	testkit.Await(t, "the album from the queue", func() bool { return slices.Equal(album(t, g, customerNumber, later.MessageID), ids(later)) })

	// Received: each says which album it belongs to, and the frame is no message.
	frame := g.Phones.Send(t, customerNumber, map[string]any{"to": shopNumber, "type": "album", "album": map[string]int{"images": 2}})
	for range 2 {
		messageID := g.Phones.Send(t, customerNumber, map[string]any{"to": shopNumber, "type": "image", "media": shown, "albumId": frame})
		if message := awaitMessage(t, g, id, messageID); message.PlatformID != messageID {
			t.Errorf("received %+v", message)
		}
		if message := kept(t, g, id, messageID); message.AlbumID == nil || *message.AlbumID != frame {
			t.Errorf("received %+v", message)
		}
	}
	if _, err := g.Client.GetMessage(t.Context(), id, frame); !client.IsCode(err, client.CodeMessageNotFound) {
		t.Errorf("the frame is a message: %v", err)
	}
	testkit.Await(t, "the events", func() bool {
		return len(eventsOf[client.MessageReceivedEvent](t, sink, "message.received")) == 2
	})
	for _, event := range eventsOf[client.MessageReceivedEvent](t, sink, "message.received") {
		if event.AlbumID == nil || *event.AlbumID != frame {
			t.Errorf("the event is %+v", event)
		}
	}
}

// What the platform refuses in the middle of an album does not keep the rest back, and the answer
// says what it was; a repeat says the same.
func TestAlbumSaysWhatFailed(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	sendText(t, g, id, "look") // the chat and its keys are known
	shown := client.DataURI("image/png", picture(t))
	request := client.Album{To: customerNumber, IdempotencyKey: "half", Items: []client.AlbumItem{{Image: shown, Caption: "kept"}, {Image: shown}, {Image: shown}}}
	g.Phones.Faults(t, map[string]any{"ackDelayMs": 3_000})
	answers := make(chan client.SentAlbum, 1)
	go func() {
		sent, err := g.Client.SendAlbum(t.Context(), id, request)
		if err != nil {
			t.Error(err)
		}
		answers <- sent
	}()
	// The first one is on the phone, and the next waits for its acknowledgement.
	testkit.Await(t, "the first picture", func() bool {
		return slices.ContainsFunc(g.Phones.Messages(t, customerNumber, ""), func(m testkit.PhoneMessage) bool { return m.Caption == "kept" })
	})
	g.Phones.Faults(t, map[string]any{"sendError": 479})
	sent := <-answers
	if len(sent.Items) != 3 || sent.Items[0].Error != nil {
		t.Fatalf("sent %+v", sent)
	}
	for _, item := range sent.Items[1:] {
		if item.Error == nil || *item.Error != client.CodePlatformError || item.MessageID != nil {
			t.Errorf("the result is %+v", item)
		}
	}
	g.Phones.Faults(t, map[string]any{})
	again, err := g.Client.SendAlbum(t.Context(), id, request)
	if err != nil || !again.IdempotencyReplayed || !slices.Equal(ids(again), ids(sent)) || again.Items[2].Error == nil {
		t.Errorf("the repeat sent %+v (%v)", again, err)
	}
	if got := album(t, g, customerNumber, sent.MessageID); !slices.Equal(got, ids(sent)[:1]) {
		t.Errorf("the phone shows %v of the album", got)
	}
}
