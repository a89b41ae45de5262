//go:build linux

package powerloss_test

import (
	"bytes"
	crand "crypto/rand"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/e2e/powerloss/disk"
	"github.com/recado-project/recado/internal/testkit/await"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// A file that was served once is served completely after a loss of power, from the disk or
// fetched again. Without a sync its name and size could reach the disk before its
// content, and it would contain zeros.
func TestServedFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, survivors := range cases.Sorted(map[string]disk.Survivors{
		"nothing survives":     {},
		"names and sizes do":   {Names: 1, Sizes: 1},
		"some of it by chance": {Names: 0.9, Sizes: 0.5, Pages: 0.5},
	}) {
		content, id := w.receiveFile(300 << 10)
		link, err := w.client.GetMediaDownloadLink(t.Context(), w.instance, id)
		if err != nil {
			t.Fatal(err)
		}
		if _, got := w.get(link.URL); !bytes.Equal(got, content) {
			t.Fatalf("served %d bytes before the loss that are not the file", len(got))
		}
		w.losePower(survivors)
		w.awaitConnected()
		if status, got := w.get(link.URL); status == http.StatusOK && !bytes.Equal(got, content) {
			t.Errorf("%s: the old link served %d bytes that are not the file", name, len(got))
		}
		w.checkFile(name, id, content)
	}
}

// If the power fails while a file is fetched, its incomplete content is never served, and
// is removed.
func TestFileHalfWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	halfWay := 0
	incoming := filepath.Join(w.data, "media", ".incoming", "*")
	for _, survivors := range []disk.Survivors{{}, {Names: 1, Sizes: 1, Pages: 0.5}} {
		content, id := w.receiveFile(4 << 20)
		asked := make(chan error, 1)
		go func() {
			_, err := w.client.GetMediaDownloadLink(t.Context(), w.instance, id)
			asked <- err
		}()
		await.Until(t, "a part of the file", func() bool {
			files, err := filepath.Glob(incoming)
			return err == nil && len(files) > 0
		})
		w.losePower(survivors)
		if err := <-asked; err != nil {
			halfWay++
		}
		if left, err := filepath.Glob(incoming); err != nil || len(left) > 0 {
			t.Errorf("left is %v (%v)", left, err)
		}
		w.awaitConnected()
		w.checkFile(fmt.Sprintf("after a loss with %+v", survivors), id, content)
	}
	if halfWay == 0 {
		t.Error("each file was there before the power failed: nothing was tried")
	}
}

// receiveFile makes a customer send a file of that size. It returns the content and the
// message's identifier once the gateway has the message.
func (w *world) receiveFile(size int) (content []byte, messageID string) {
	w.t.Helper()
	content = make([]byte, size)
	_, _ = crand.Read(content) // it never fails
	messageID = w.phones.Send(w.t, customer(0), map[string]any{
		"to": shop, "type": "document", "fileName": "a.bin", "media": client.DataURI("application/octet-stream", content),
	})
	w.awaitReceived(messageID)
	return content, messageID
}

// checkFile fetches the file of a message, and compares it.
func (w *world) checkFile(when, messageID string, content []byte) {
	w.t.Helper()
	link, err := w.client.GetMediaDownloadLink(w.t.Context(), w.instance, messageID)
	if err != nil {
		w.t.Errorf("%s: %v", when, err)
		return
	}
	if status, got := w.get(link.URL); status != http.StatusOK || !bytes.Equal(got, content) {
		w.t.Errorf("%s: answered %d, with %d bytes that are not the file's %d", when, status, len(got), len(content))
	}
}

func (w *world) get(url string) (status int, body []byte) {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		w.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err = io.ReadAll(response.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return response.StatusCode, body
}
