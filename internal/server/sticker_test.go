package server_test

import (
	"os/exec"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// A video becomes a sticker that the phone shows moving, at once and from the queue; one that a
// phone sends is told as moving. Without being asked, only WebP is taken.
func TestStickersThatMove(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	moving := client.DataURI("image/webp", mediaFile(t, "animated.webp"))
	stickers := []client.Sticker{{Sticker: moving}, {Sticker: moving, Prefer: client.RespondAsync}}
	if _, err := exec.LookPath("ffmpeg"); err == nil {
		clip := client.DataURI("video/mp4", mediaFile(t, "clip.mp4"))
		stickers = append(stickers, client.Sticker{Sticker: clip, Convert: true}, client.Sticker{Sticker: clip, Convert: true, Prefer: client.RespondAsync})
	}
	for _, sticker := range stickers {
		sticker.To = customerNumber
		sent, err := g.Client.SendSticker(t.Context(), id, sticker)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Phones.AwaitMessage(t, customerNumber, sent.MessageID); got.Type != "sticker" || !got.Animated || got.MimeType != "image/webp" {
			t.Errorf("the phone shows %+v", got)
		}
	}
	for name, animated := range cases.Sorted(map[string]bool{"animated.webp": true, "sticker.webp": false}) {
		received := g.Phones.Send(t, customerNumber, map[string]any{
			"to": shopNumber, "type": "sticker", "media": client.DataURI("image/webp", mediaFile(t, name)),
		})
		awaitMessage(t, g, id, received)
		message, err := g.Client.GetMessage(t.Context(), id, received)
		if err != nil || message.Media == nil || message.Media.Animated != animated {
			t.Errorf("received %+v (%v)", message, err)
		}
	}
	_, err := g.Client.SendSticker(t.Context(), id, client.Sticker{To: customerNumber, Sticker: client.DataURI("video/mp4", mediaFile(t, "clip.mp4"))})
	if !client.IsCode(err, client.CodeValidationError) {
		t.Errorf("a video as a sticker: %v", err)
	}
}
