package server_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/sandbox/mediahost"
	"github.com/recado-project/recado/internal/testkit"
)

// document encodes a document message, as its sender wants it.
func document(file mediahost.Pointer, size uint64, mimeType string) []byte {
	var about []byte
	field := func(number protowire.Number, content []byte) {
		about = protowire.AppendTag(about, number, protowire.BytesType)
		about = protowire.AppendBytes(about, content)
	}
	field(2, []byte(mimeType))
	field(4, file.SHA256)
	about = protowire.AppendTag(about, 5, protowire.VarintType)
	about = protowire.AppendVarint(about, size)
	field(7, file.Key)
	field(8, []byte("note.txt"))
	field(9, file.EncryptedSHA256)
	field(10, []byte(file.DirectPath))
	const documentMessage = 7
	return protowire.AppendBytes(protowire.AppendTag(nil, documentMessage, protowire.BytesType), about)
}

// What a sender says of a file's size need not be true: a file that is too large
// is refused, and nothing of it stays.
func TestFileThatIsLargerThanItSaysIsRefused(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	g, id := testkit.StartLinked(t, testkit.Options{DataDir: data, Blobs: media.BlobsConfig{MaxFile: 100_000}})
	send := func(size int) string {
		file := g.Phones.Upload(t, "document", client.DataURI("text/plain", bytes.Repeat([]byte("x"), size)))
		sent := g.Phones.SendRaw(t, customerNumber, shopNumber, document(file, 10, "text/plain\x00"), nil)
		awaitMessage(t, g, id, sent)
		return sent
	}
	_, err := g.Client.GetMediaDownloadLink(t.Context(), id, send(100_001))
	testkit.Refused(t, err, http.StatusRequestEntityTooLarge, "PAYLOAD_TOO_LARGE")
	for _, folder := range []string{filepath.Join("media", ".incoming"), "tmp"} {
		if left, err := os.ReadDir(filepath.Join(data, folder)); err != nil || len(left) > 0 {
			t.Errorf("%s has %v, %v", folder, left, err)
		}
	}
	if _, err := g.Client.GetMediaDownloadLink(t.Context(), id, send(100_000)); err != nil {
		t.Errorf("a file that is just not too large, and of a malformed type: %v", err)
	}
}
