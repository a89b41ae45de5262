package server_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit"
)

// A file in a form reaches the phone byte by byte, at once and from the queue, and a repeat of
// the same request sends nothing.
func TestFilesInForms(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	clip := mediaFile(t, "clip.mp4")
	for _, later := range []bool{false, true} {
		sent, err := g.Client.SendVideo(t.Context(), id, client.Video{
			To: customerNumber, File: &client.File{Content: bytes.NewReader(clip)}, Caption: "Oi", Prefer: testkit.Prefer(later),
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Phones.AwaitMessage(t, customerNumber, sent.MessageID); got.Type != "video" || got.Caption != "Oi" || got.MediaSize == nil || *got.MediaSize != int64(len(clip)) {
			t.Errorf("the phone shows %+v", got)
		}
	}
	document := func(content string) (client.Sent, error) {
		return g.Client.SendDocument(t.Context(), id, client.Document{
			To: customerNumber, File: &client.File{Content: strings.NewReader(content), Name: "nota fiscal.txt"}, IdempotencyKey: "once",
		})
	}
	first, err := document("one")
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Phones.AwaitMessage(t, customerNumber, first.MessageID); got.FileName != "nota fiscal.txt" {
		t.Errorf("the phone shows %+v", got)
	}
	if again, err := document("one"); err != nil || !again.IdempotencyReplayed || again.ID != first.ID {
		t.Errorf("a repeat: %+v, %v", again, err)
	}
	if _, err := document("two"); !client.IsCode(err, client.CodeIdempotencyConflict) {
		t.Errorf("another file under the same key: %v", err)
	}
}
