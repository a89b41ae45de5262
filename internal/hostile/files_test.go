package hostile_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// If what a sender says about his file is not true, the API answers at once that there
// is no such file, and never with an internal error. A file name is made harmless in
// events.
func TestFilesThatLie(t *testing.T) {
	t.Parallel()
	b := besiege(t, "")
	file := b.Phones.Upload(t, "document", client.DataURI("text/plain", []byte("ok, tudo bem?")))
	for name, lie := range cases.Sorted(map[string]func(d *waE2E.DocumentMessage){
		"a path without a slash":      func(d *waE2E.DocumentMessage) { d.DirectPath = new("evil") },
		"a path to nowhere":           func(d *waE2E.DocumentMessage) { d.DirectPath = new("/../../etc/passwd?x=\x00") },
		"no path":                     func(d *waE2E.DocumentMessage) { d.DirectPath = nil },
		"another key":                 func(d *waE2E.DocumentMessage) { d.MediaKey = bytes.Repeat([]byte{7}, 32) },
		"a key that is none":          func(d *waE2E.DocumentMessage) { d.MediaKey = []byte{1} },
		"another hash":                func(d *waE2E.DocumentMessage) { d.FileSHA256 = bytes.Repeat([]byte{7}, 32) },
		"another encrypted hash":      func(d *waE2E.DocumentMessage) { d.FileEncSHA256 = bytes.Repeat([]byte{7}, 32) },
		"an encrypted hash too short": func(d *waE2E.DocumentMessage) { d.FileEncSHA256 = []byte{1} },
	}) {
		document := &waE2E.DocumentMessage{
			DirectPath: &file.DirectPath, MediaKey: file.Key, FileSHA256: file.SHA256, FileEncSHA256: file.EncryptedSHA256,
			FileLength: new(file.Size), Mimetype: new("text/plain"), FileName: new("../../etc/passwd\u202efdp.exe\x00"),
		}
		lie(document)
		sent := b.Phones.SendRaw(t, stranger, shopNumber, mustMarshal(t, &waE2E.Message{DocumentMessage: document}), nil)
		events := b.unharmed(t)
		for _, event := range events {
			if strings.Contains(string(event.Data), sent) && event.Type == "message.received" &&
				!strings.Contains(string(event.Data), `"fileName":".._.._etc_passwdfdp.exe"`) {
				t.Errorf("%s: its name is reported raw: %s", name, event.Data)
			}
		}
		began := time.Now()
		_, err := b.Client.GetMediaDownloadLink(t.Context(), b.id, sent)
		testkit.Refused(t, err, http.StatusNotFound, "MEDIA_NOT_FOUND")
		if took := time.Since(began); took > 25*time.Second {
			t.Errorf("%s: the answer took %s", name, took)
		}
	}
}
