package upgradetest_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit/await"
	"github.com/recado-project/recado/internal/testkit/phones"
	"github.com/recado-project/recado/internal/testkit/process"
)

const (
	shopNumber     = "5511999990100"
	customerNumber = "5511988887766"
	otherNumber    = "5511977776655"
)

// written is what a version has written, as it saw it itself.
type written struct {
	InstanceID  string         `json:"instanceId"`
	APIKey      string         `json:"apiKey"`
	Sent        string         `json:"sent"`        // messageId of a text to the customer
	Received    string         `json:"received"`    // messageId of a text of the customer
	Text        string         `json:"text"`        // of that text
	Picture     string         `json:"picture"`     // messageId of a picture of the customer, which was fetched
	PictureHash string         `json:"pictureHash"` // SHA-256 of its file
	Secret      string         `json:"secret"`      // of the webhook
	Delivered   []int64        `json:"delivered"`   // the sequences of the events that the webhook has delivered
	Events      []client.Event `json:"events"`      // all of the instance
}

// world is a sandbox and a gateway as processes.
type world struct {
	t        *testing.T
	box      *process.Process
	gateway  *process.Process
	phones   *phones.API
	baseURL  string
	platform []string // flags of serve that name the sandbox
}

// openWorld starts a program on the data in a folder.
func openWorld(t *testing.T, program, folder, databaseURL string, more ...string) *world {
	t.Helper()
	w := &world{t: t}
	w.box = process.Start(t, program, "sandbox", "--listen", "127.0.0.1:0", "--data", filepath.Join(folder, "sandbox"), "--log-level", "error")
	hint := strings.Fields(w.box.Await("A gateway on it: recado serve"))
	w.platform = hint[6:]
	w.phones = phones.New("http" + strings.TrimPrefix(hint[7], "ws"))
	address := process.FreeAddress(t)
	args := append([]string{
		"serve", "--listen", address, "--allow-private-urls", "--log-level", "warn", "--data", filepath.Join(folder, "gateway"),
		"--keep-delivered", "876000h", "--keep-undelivered", "876000h",
	}, append(w.platform, more...)...)
	if databaseURL != "" {
		args = append(args, "--database-url", databaseURL)
	}
	w.gateway = process.Start(t, program, args...)
	w.gateway.Await("recado ")
	w.baseURL = "http://" + address
	t.Cleanup(func() { http.DefaultTransport.(*http.Transport).CloseIdleConnections() })
	return w
}

func (w *world) stop() {
	w.t.Helper()
	w.gateway.Stop()
	w.box.Stop()
}

func (w *world) awaitConnected(c *client.Client, id string) {
	w.t.Helper()
	await.Until(w.t, "the instance is connected", func() bool {
		// Early versions have only the list.
		page, err := c.ListInstances(w.t.Context(), client.ListInstancesParams{}, 0, 0)
		return err == nil && slices.ContainsFunc(page.Data, func(i client.Instance) bool {
			return i.InstanceID == id && i.Status == "connected"
		})
	})
}

// readEvents reads that many events from the beginning of the log.
func (w *world) readEvents(c *client.Client, id string, enough func(events []client.Event) bool) []client.Event {
	w.t.Helper()
	stream, err := c.Events(w.t.Context(), id, client.EventsParams{After: new(int64(0))})
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	var events []client.Event
	for !enough(events) {
		event, err := stream.Next()
		if err != nil {
			w.t.Fatal(err)
		}
		events = append(events, event)
	}
	return events
}

// fetch returns the SHA-256 of the file of a message.
func (w *world) fetch(c *client.Client, id, messageID string) string {
	w.t.Helper()
	link, err := c.GetMediaDownloadLink(w.t.Context(), id, messageID)
	if err != nil {
		w.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, link.URL, http.NoBody)
	if err != nil {
		w.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, response.Body); err != nil || response.StatusCode != http.StatusOK {
		w.t.Fatalf("the file was answered with %d (%v)", response.StatusCode, err)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// readWritten reads what a version says that it has written.
func readWritten(t *testing.T, path string) written {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var w written
	if err := json.Unmarshal(content, &w); err != nil {
		t.Fatal(err)
	}
	return w
}

// unpack writes the files of an archive into a folder.
func unpack(t *testing.T, archive, folder string) {
	t.Helper()
	files := tar.NewReader(bytes.NewReader(inflate(t, archive)))
	for {
		head, err := files.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, filepath.FromSlash(head.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(files)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func inflate(t *testing.T, path string) []byte {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	packed, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(packed)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
