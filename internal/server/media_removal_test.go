package server_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/uuid"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// receivePicture has the customer send a picture to a number, and follows a link
// to it once, so that its file is kept. It returns the message and the link.
func receivePicture(t *testing.T, g *testkit.Gateway, id, number string) (message gateway.Message, link string) {
	t.Helper()
	content := picture(t)
	received := g.Phones.Send(t, customerNumber, map[string]any{
		"to": number, "type": "image", "media": client.DataURI("image/png", content),
	})
	message = awaitMessage(t, g, id, received)
	return message, followLink(t, g, id, received, content)
}

func followLink(t *testing.T, g *testkit.Gateway, id, messageID string, content []byte) (link string) {
	t.Helper()
	answer, err := g.Client.GetMediaDownloadLink(t.Context(), id, messageID)
	if err != nil {
		t.Fatal(err)
	}
	if got := download(t, answer.URL); !bytes.Equal(got, content) {
		t.Fatalf("downloaded %d bytes, want %d", len(got), len(content))
	}
	return answer.URL
}

// refusedLink fails the test unless the link is answered with the error body of
// the API, with that status and code. It returns the answer's headers.
func refusedLink(t *testing.T, link, ranged string, status int, code string) http.Header {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, link, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if ranged != "" {
		request.Header.Set("Range", ranged)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var body struct {
		StatusCode int    `json:"statusCode"`
		Message    string `json:"message"`
		Code       string `json:"error"`
		Timestamp  string `json:"timestamp"`
		Path       string `json:"path"`
	}
	decoded := json.NewDecoder(response.Body).Decode(&body)
	if response.StatusCode != status || decoded != nil || body.StatusCode != status || body.Code != code {
		t.Fatalf("answered %d with %+v (%v), want %d %s", response.StatusCode, body, decoded, status, code)
	}
	if got := response.Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("the answer is %s", got)
	}
	if body.Message == "" || body.Timestamp == "" || body.Path != request.URL.Path {
		t.Errorf("the body is %+v", body)
	}
	if got := response.Header.Get("Content-Disposition"); got != "" {
		t.Errorf("the answer is to be saved as %s", got)
	}
	return response.Header
}

func exists(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Stat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

// An instance goes with its files: they lay on disk before, and links that were
// given out went on serving them.
func TestDeletedInstanceTakesItsMediaAlong(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	g := testkit.Start(t, testkit.Options{DataDir: data})
	id, other := g.Link(t, shopNumber), g.Link(t, otherNumber)
	_, link := receivePicture(t, g, id, shopNumber)
	kept, keptLink := receivePicture(t, g, other, otherNumber)
	folder := filepath.Join(data, "media", id)
	if !exists(t, folder) {
		t.Fatal("there is no folder to be removed")
	}
	if err := g.Partner.DeleteInstance(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if exists(t, folder) {
		t.Error("the folder is still there")
	}
	refusedLink(t, link, "", http.StatusNotFound, "MESSAGE_NOT_FOUND")
	if got := download(t, keptLink); !bytes.Equal(got, picture(t)) {
		t.Errorf("of the other instance %d bytes are left", len(got))
	}
	if !exists(t, filepath.Join(data, "media", other, kept.ID)) {
		t.Error("the other instance's file is gone")
	}
}

// A process that is killed between deleting an instance and removing its files
// leaves them to the next one.
func TestMediaOfInstancesThatAreGoneIsRemovedAtStart(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	g, id := testkit.StartLinked(t, testkit.Options{DataDir: data})
	message, _ := receivePicture(t, g, id, shopNumber)
	g.Stop()

	lost := filepath.Join(data, "media", uuid.NewString())
	foreign := filepath.Join(data, "media", "lost+found")
	for _, folder := range []string{lost, foreign} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, message.ID), []byte("a file"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	again := testkit.Start(t, testkit.Options{DataDir: data})
	testkit.Await(t, "the lost files to be removed", func() bool { return !exists(t, lost) })
	again.AwaitStatus(t, id, gateway.StatusConnected)
	followLink(t, again, id, message.PlatformID, picture(t))
	if !exists(t, foreign) {
		t.Error("a folder that is not ours was removed")
	}
}

// A start with a database that knows no instance, which is most likely another
// one than yesterday, removes nothing.
func TestMediaIsKeptWhereNoInstanceIsKnown(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	file := filepath.Join(data, "media", uuid.NewString(), uuid.NewString())
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	g := testkit.Start(t, testkit.Options{DataDir: data})
	// Who is answered comes after the sweep.
	if _, err := g.Client.ListInstances(t.Context(), 0, 0); err != nil {
		t.Fatal(err)
	}
	g.Stop()
	if !exists(t, file) {
		t.Error("the file is gone")
	}
}

// Who deletes a message for everyone takes its file along: a link that was given
// out before went on serving it.
func TestDeletedMessageTakesItsFileAlong(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	g, id := testkit.StartLinked(t, testkit.Options{DataDir: data})
	sendText(t, g, id, "Oi!")
	for name, test := range cases.Sorted(map[string]struct {
		own      bool
		askFirst bool // for another link, rather than for the file
	}{
		"by its sender":            {own: false},
		"by us":                    {own: true},
		"and another link is made": {askFirst: true},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var message gateway.Message
			var link string
			if test.own {
				content := picture(t)
				sent, err := g.Client.SendImage(t.Context(), id, client.Image{To: customerNumber, Image: client.DataURI("image/png", content)})
				if err != nil {
					t.Fatal(err)
				}
				message, link = find(t, g, id, sent.ID), followLink(t, g, id, sent.ID, content)
				if err := g.Client.DeleteMessage(t.Context(), id, client.DeleteMessage{MessageID: sent.ID}); err != nil {
					t.Fatal(err)
				}
			} else {
				message, link = receivePicture(t, g, id, shopNumber)
				g.Phones.Delete(t, customerNumber, message.PlatformID)
				testkit.Await(t, "the deletion", func() bool { return !find(t, g, id, message.ID).DeletedAt.IsZero() })
			}
			anew := func() {
				_, err := g.Client.GetMediaDownloadLink(t.Context(), id, message.ID)
				testkit.Refused(t, err, http.StatusNotFound, "MESSAGE_NOT_FOUND")
			}
			if test.askFirst {
				anew()
			} else {
				refusedLink(t, link, "", http.StatusNotFound, "MESSAGE_NOT_FOUND")
			}
			if exists(t, filepath.Join(data, "media", id, message.ID)) {
				t.Error("the file is still there")
			}
			anew()
			refusedLink(t, link, "", http.StatusNotFound, "MESSAGE_NOT_FOUND")
		})
	}
}

// A file that neither the platform nor the phone has any more was answered with
// a code that the document knows with another status only.
func TestMediaThatIsNowhereAnyMore(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	sendText(t, g, id, "Oi!")
	received := g.Phones.Send(t, customerNumber, map[string]any{
		"to": shopNumber, "type": "image", "media": client.DataURI("image/png", picture(t)),
	})
	awaitMessage(t, g, id, received)
	g.Phones.AwaitMessage(t, shopNumber, received) // the phone has fetched the file
	dropEverywhere(t, g, customerNumber, received)
	_, err := g.Client.GetMediaDownloadLink(t.Context(), id, received)
	testkit.Refused(t, err, http.StatusNotFound, "MEDIA_NOT_FOUND")
}

// dropEverywhere makes the platform's media host and the phones forget a file.
func dropEverywhere(t *testing.T, g *testkit.Gateway, number, messageID string) {
	t.Helper()
	address, err := url.JoinPath(g.BaseURL, "sandbox/api/phones", number, "messages", messageID, "media")
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, address+"?everywhere=true", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusNoContent {
		t.Fatalf("the sandbox answered %d", response.StatusCode)
	}
}

// A range that the file does not have was refused in plain text.
func TestRangeBeyondTheFileIsRefusedAsEverythingElse(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	sendText(t, g, id, "Oi!")
	_, link := receivePicture(t, g, id, shopNumber)
	header := refusedLink(t, link, "bytes=1000000-", http.StatusRequestedRangeNotSatisfiable, "RANGE_NOT_SATISFIABLE")
	if got, want := header.Get("Content-Range"), "bytes */"+strconv.Itoa(len(picture(t))); got != want {
		t.Errorf("Content-Range is %q, want %q", got, want)
	}
}
