package server_test

import (
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit"
)

// A video note reaches the phone as one, and one of a phone is told as one; both have their
// file.
func TestVideoNotes(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	clip := client.DataURI("video/mp4", mediaFile(t, "clip.mp4"))
	for _, later := range []bool{false, true} {
		sent, err := g.Client.SendVideoNote(t.Context(), id, client.VideoNote{To: customerNumber, Video: clip, Prefer: testkit.Prefer(later)})
		if err != nil {
			t.Fatal(err)
		}
		got := g.Phones.AwaitMessage(t, customerNumber, sent.MessageID)
		if got.Type != "video" || !got.VideoNote || got.MediaSize == nil || *got.MediaSize != int64(len(mediaFile(t, "clip.mp4"))) || got.MimeType != "video/mp4" {
			t.Errorf("the phone shows %+v", got)
		}
	}
	received := g.Phones.Send(t, customerNumber, map[string]any{"to": shopNumber, "type": "video", "media": clip, "videoNote": true})
	awaitMessage(t, g, id, received)
	message, err := g.Client.GetMessage(t.Context(), id, received)
	if err != nil || message.Media == nil || !message.Media.VideoNote || message.Type != "video" {
		t.Errorf("received %+v (%v)", message, err)
	}
	if _, err := g.Client.GetMediaDownloadLink(t.Context(), id, received); err != nil {
		t.Error(err)
	}
	ordinary, err := g.Client.SendVideo(t.Context(), id, client.Video{To: customerNumber, Video: clip})
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Phones.AwaitMessage(t, customerNumber, ordinary.MessageID); got.VideoNote {
		t.Error("a video is shown as a note")
	}
}
