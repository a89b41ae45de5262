package server_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media/filestore"
	"github.com/recado-project/recado/internal/server"
	"github.com/recado-project/recado/internal/sqlite"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/postgres"
	"github.com/recado-project/recado/internal/testkit/s3"
)

// unmount takes a folder away, as when a file system is not mounted: an empty folder is under its
// name. It returns what mounts it again.
func unmount(t *testing.T, folder string) (mount func()) {
	t.Helper()
	away := folder + "-away"
	if err := errors.Join(os.Rename(folder, away), os.Mkdir(folder, 0o700)); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		// Nothing was left in the empty folder: it could not be removed.
		if err := errors.Join(os.Remove(folder), os.Rename(away, folder)); err != nil {
			t.Fatal(err)
		}
	}
}

// While the place of files is away, what needs it is refused with a word when to come again, messages that
// were accepted wait, and no start takes the empty folder for the place. When it is back, everything
// is sent.
func TestPlaceOfFilesIsAway(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "mount")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	var log lockedLog
	o := testkit.Options{DataDir: t.TempDir(), MediaURL: "file://" + folder, Log: &log}
	g, id := testkit.StartLinked(t, o)
	send := func() (client.Sent, error) {
		t.Helper()
		return g.Client.SendImage(t.Context(), id, client.Image{
			To: customerNumber, Image: client.DataURI("image/png", picture(t)), Prefer: client.RespondAsync,
		})
	}
	if err := g.Partner.StopInstance(t.Context(), id); err != nil { // nothing leaves before the files are away
		t.Fatal(err)
	}
	var sent []client.Sent
	for range 4 {
		one, err := send()
		if err != nil {
			t.Fatal(err)
		}
		sent = append(sent, one)
	}
	mount := unmount(t, folder)
	_, err := send()
	testkit.Refused(t, err, http.StatusServiceUnavailable, client.CodeUnavailable)
	if refusal, ok := errors.AsType[*client.Error](err); !ok || refusal.RetryAfter == 0 {
		t.Errorf("it does not say when to come again: %v", err)
	}
	if err := g.Client.RestartInstance(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	testkit.Await(t, "a message waits for its file, and says so", func() bool {
		for line := range strings.Lines(log.String()) {
			if strings.Contains(line, "queued message not sent") && strings.Contains(line, "level=WARN") &&
				strings.Contains(line, "instance_id="+id) && strings.Contains(line, "message_id=") {
				return true
			}
		}
		return false
	})
	if waiting := queueOf(t, g, id); len(waiting) != len(sent) {
		t.Errorf("%d messages wait", len(waiting))
	}
	mount()
	last, err := send()
	if err != nil {
		t.Errorf("after the place is back: %v", err)
	}
	sent = append(sent, last)
	mount = unmount(t, folder)
	g.Stop()

	if err := testkit.StartError(t, o); !errors.Is(err, filestore.ErrNotThePlace) || !strings.Contains(err.Error(), "mounted?") {
		t.Errorf("a start with an empty folder ends with %v", err)
	}
	mount()
	g = testkit.Start(t, o)
	for _, one := range sent {
		g.Phones.AwaitMessage(t, customerNumber, one.MessageID)
	}
	awaitEmptyQueue(t, g, id)
}

// Nodes have one place of files: a second one with another folder is refused, and so is a node
// without one.
func TestNodesHaveOnePlaceOfFiles(t *testing.T) {
	t.Parallel()
	url, one, two := postgres.Start(t), t.TempDir(), t.TempDir()
	node := func(n int, folder string) testkit.Options {
		o := testkit.Options{DatabaseURL: url, DataDir: t.TempDir(), MediaURL: "file://" + folder}
		o.Cluster = server.Cluster{Advertise: fmt.Sprintf("http://127.0.0.1:%d", n), Secret: "a secret of the nodes alone"}
		return o
	}
	testkit.Start(t, node(1, one))
	if err := testkit.StartError(t, node(2, two)); !errors.Is(err, filestore.ErrNotThePlace) {
		t.Errorf("the second node ends with %v", err)
	}
	if err := testkit.StartError(t, node(2, one)); err != nil {
		t.Errorf("a node with the same folder ends with %v", err)
	}
	alone := testkit.Options{DatabaseURL: url, DataDir: t.TempDir()}
	alone.Cluster = node(2, one).Cluster
	if err := testkit.StartError(t, alone); !errors.Is(err, filestore.ErrNotThePlace) {
		t.Errorf("a node that keeps files to itself ends with %v", err)
	}
}

// A place that is new is taken if somebody says so. What earlier versions have left, the name of
// the owner at the place or in the database alone, goes on by itself.
func TestNewPlaceOfFiles(t *testing.T) {
	t.Parallel()
	one, two := t.TempDir(), t.TempDir()
	o := testkit.Options{DataDir: t.TempDir(), MediaURL: "file://" + one}
	start := func(what string, refused error) {
		t.Helper()
		if err := testkit.StartError(t, o); !errors.Is(err, refused) {
			t.Errorf("%s: the start ends with %v", what, err)
		}
	}
	forget := func() { // as an earlier version has left it
		t.Helper()
		pool, err := sqlite.OpenPool(t.Context(), filepath.Join(o.DataDir, "recado.db"), 1)
		if err != nil {
			t.Fatal(err)
		}
		_, err = pool.ExecContext(t.Context(), "DELETE FROM file_place")
		if err := errors.Join(err, pool.Close()); err != nil {
			t.Fatal(err)
		}
	}
	start("the first place", nil)
	o.MediaURL = "file://" + two
	start("another place", filestore.ErrNotThePlace)
	o.MediaIsNew = true
	start("a place that is new", nil)
	o.MediaIsNew = false
	start("the new place again", nil)
	forget()
	start("an earlier version, which has named the place", nil)
	forget()
	if err := errors.Join(os.Remove(filepath.Join(two, "owner")), os.Remove(filepath.Join(two, "owner.attrs"))); err != nil {
		t.Fatal(err)
	}
	start("an earlier version, whose place has no name", nil)
	start("the same again", nil)
	o.DataDir = t.TempDir()
	start("another database", filestore.ErrOthersPlace)
	o.MediaIsNew = true
	start("another database that is told that the place is new", filestore.ErrOthersPlace)
}

// answer is what came of a request.
type answer struct {
	status int
	header http.Header
	body   string
}

// filesIn returns the names of the files in a bucket, without the one that says whose they
// are.
func filesIn(bucket *s3.Server) []string {
	return slices.DeleteFunc(bucket.Names(), func(name string) bool { return path.Base(name) == "owner" })
}

// ask follows a link as a client without a key does, and no further than one step.
func ask(t *testing.T, method, link, ranged string) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, link, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if ranged != "" {
		request.Header.Set("Range", ranged)
	}
	direct := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := direct.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(content)}
}

// A picture that came in is kept in the bucket and served from there, through a link that
// ends with its message. Nothing of it is in the bucket after its instance.
func TestMediaInABucket(t *testing.T) {
	t.Parallel()
	bucket := s3.Start(t)
	g, id := testkit.StartLinked(t, testkit.Options{MediaURL: bucket.URL("a/gateway")})
	sendText(t, g, id, "Oi!")
	content := string(picture(t))
	message, link := receivePicture(t, g, id, shopNumber)
	kept := "a/gateway/media/" + id + "/" + message.ID
	if names := filesIn(bucket); !slices.Contains(names, kept) {
		t.Errorf("the bucket has %q, want %q among them", names, kept)
	}

	led := ask(t, http.MethodGet, link, "")
	asked, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	name := asked.Query().Get("name")
	elsewhere, err := url.Parse(led.header.Get("Location"))
	if err != nil || led.status != http.StatusTemporaryRedirect || elsewhere.Host != bucket.Address() || led.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("the link is answered %d with %v, %v", led.status, led.header, err)
	}
	own, err := g.Server.Messages().MediaLink(t.Context(), id, gateway.MessageRef{ID: message.ID}, "")
	if err != nil {
		t.Fatal(err)
	}
	// The bucket answers as we do: our own pages get the file from us, others from there.
	for where, address := range cases.Sorted(map[string]string{"the bucket": elsewhere.String(), "ourselves": g.BaseURL + own.URL}) {
		whole := ask(t, http.MethodGet, address, "")
		if whole.status != http.StatusOK || whole.body != content {
			t.Errorf("%s answered %d with %d bytes", where, whole.status, len(whole.body))
		}
		for header, want := range cases.Sorted(map[string]string{
			"Content-Type": "image/png", "Cache-Control": "private", "Accept-Ranges": "bytes",
			"Content-Disposition": `attachment; filename="` + name + `"; filename*=UTF-8''` + name,
		}) {
			if got := whole.header.Get(header); got != want {
				t.Errorf("%s: %s is %q, want %q", where, header, got, want)
			}
		}
		part := ask(t, http.MethodGet, address, "bytes=2-6")
		if part.status != http.StatusPartialContent || part.body != content[2:7] {
			t.Errorf("%s answered a range with %d, %q", where, part.status, part.body)
		}
	}
	if head := ask(t, http.MethodHead, link, ""); head.status != http.StatusOK || head.header.Get("Content-Length") != strconv.Itoa(len(content)) {
		t.Errorf("a question for the headers is answered %d, %v", head.status, head.header)
	}

	_, otherLink := receivePicture(t, g, id, shopNumber)
	g.Phones.Delete(t, customerNumber, message.PlatformID)
	testkit.Await(t, "the deletion", func() bool { return !find(t, g, id, message.ID).DeletedAt.IsZero() })
	refusedLink(t, link, "", http.StatusNotFound, "MESSAGE_NOT_FOUND")
	if names := filesIn(bucket); slices.Contains(names, kept) || len(names) != 1 {
		t.Errorf("after the deletion of one message the bucket has %q", names)
	}
	if err := g.Partner.StopInstance(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Client.SendImage(t.Context(), id, client.Image{To: customerNumber, Image: client.DataURI("image/png", []byte(content)), Prefer: client.RespondAsync}); err != nil {
		t.Fatal(err)
	}
	if names := filesIn(bucket); len(names) != 2 {
		t.Errorf("with a file in the queue the bucket has %q", names)
	}
	if err := g.Partner.DeleteInstance(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	testkit.Await(t, "nothing is left in the bucket", func() bool { return len(filesIn(bucket)) == 0 })
	refusedLink(t, otherLink, "", http.StatusNotFound, "MESSAGE_NOT_FOUND")
}

// While the store of files is away, text goes on, files are refused with the time of another
// try, and the file of a message that was accepted waits: it is sent when the store is back.
func TestStoreOfFilesThatIsAway(t *testing.T) {
	t.Parallel()
	bucket := s3.Start(t)
	o := testkit.Options{DataDir: t.TempDir(), MediaURL: bucket.URL("")}
	g, id := testkit.StartLinked(t, o)
	sendText(t, g, id, "Oi!")
	message, link := receivePicture(t, g, id, shopNumber)
	if err := g.Partner.StopInstance(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	content := picture(t)
	image := client.Image{To: customerNumber, Image: client.DataURI("image/png", content), Prefer: client.RespondAsync}
	accepted, err := g.Client.SendImage(t.Context(), id, image)
	if err != nil {
		t.Fatal(err)
	}
	g.Stop()

	bucket.End()
	g = testkit.Start(t, o)
	if err := g.Client.RestartInstance(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	g.AwaitStatus(t, id, gateway.StatusConnected)
	_, err = g.Client.GetMediaDownloadLink(t.Context(), id, message.ID)
	testkit.Refused(t, err, http.StatusServiceUnavailable, "UNAVAILABLE")
	_, target, _ := strings.Cut(link, "/media/") // the gateway has another port now
	header := refusedLink(t, g.BaseURL+"/media/"+target, "", http.StatusServiceUnavailable, "UNAVAILABLE")
	if header.Get("Retry-After") == "" {
		t.Error("it does not say when to try again")
	}
	_, err = g.Client.SendImage(t.Context(), id, image)
	testkit.Refused(t, err, http.StatusServiceUnavailable, "UNAVAILABLE")
	testkit.Await(t, "the file was asked for in vain", func() bool {
		waiting := queueOf(t, g, id)
		return len(waiting) == 1 && waiting[0].ID == accepted.ID && waiting[0].Reason != nil && *waiting[0].Reason == client.ReasonRetry
	})
	if shown := sendText(t, g, id, "text goes on"); shown.MessageID == "" {
		t.Error("text was not sent")
	}
	image.Prefer = ""
	if _, err := g.Client.SendImage(t.Context(), id, image); err != nil {
		t.Errorf("a picture that is sent at once needs no store: %v", err)
	}

	bucket.Begin()
	if shown := g.Phones.AwaitMessage(t, customerNumber, accepted.MessageID); shown.MediaSHA256 != sum(content) {
		t.Errorf("the phone shows %+v", shown)
	}
	awaitEmptyQueue(t, g, id)
	testkit.Await(t, "the queue's file is gone", func() bool { return len(filesIn(bucket)) == 1 })
	followLink(t, g, id, message.ID, content)
}

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
	if _, err := g.Client.ListInstances(t.Context(), client.ListInstancesParams{}, 0, 0); err != nil {
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

// queuedAt makes the folder of a file that waits with a message of a time: half of the file,
// as it is for a moment while it gets its name.
func queuedAt(t *testing.T, place string, at time.Time) (folder string) {
	t.Helper()
	id, err := uuid.NewV7()
	if err != nil {
		t.Fatal(err)
	}
	var stamp [8]byte
	binary.BigEndian.PutUint64(stamp[:], uint64(at.UnixMilli()))
	copy(id[:6], stamp[2:])
	folder = filepath.Join(place, "queue", id.String())
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "file.attrs"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// Files whose message was never accepted are removed at a start, but not what another
// gateway at the same place is writing, and no uploads.
func TestStartLeavesTheQueueOfOthers(t *testing.T) {
	t.Parallel()
	place := t.TempDir()
	lost := queuedAt(t, place, time.Now().Add(-2*time.Hour))
	underway := queuedAt(t, place, time.Now())
	uploads, last := filepath.Join(place, "queue", "uploads"), filepath.Join(place, "queue", "zzz") // which comes after them
	for _, folder := range []string{uploads, last} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "a"), []byte("uploaded"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	g := testkit.Start(t, testkit.Options{MediaURL: "file://" + place})
	testkit.Await(t, "the lost file to be removed", func() bool { return !exists(t, lost) && !exists(t, last) })
	g.Stop()
	if !exists(t, filepath.Join(uploads, "a")) {
		t.Error("an upload was removed")
	}
	if !exists(t, underway) {
		t.Error("what another gateway writes was removed")
	}
}

// A message that has been kept long enough goes with its file, and the links to it.
func TestOldMessagesGoWithTheirFiles(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	var ahead atomic.Int64
	g := testkit.Start(t, testkit.Options{
		DataDir: data, KeepMessages: 30 * time.Hour,
		Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) },
	})
	id := g.Link(t, shopNumber)
	message, _ := receivePicture(t, g, id, shopNumber)
	file := filepath.Join(data, "media", id, message.ID)
	expire := func() {
		t.Helper()
		if err := g.Server.Messages().Expire(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	expire()
	if !exists(t, file) {
		t.Fatal("a young message is gone")
	}
	ahead.Store(int64(31 * time.Hour))
	expire()
	if exists(t, file) {
		t.Error("the file is still there")
	}
	_, err := g.Client.GetMediaDownloadLink(t.Context(), id, message.ID)
	testkit.Refused(t, err, http.StatusNotFound, "MESSAGE_NOT_FOUND")
}

// What a process that was killed left of decrypted files does not outlive the
// next start.
func TestTemporaryFilesAreSweptAtTheStart(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	temp := filepath.Join(data, "tmp")
	incoming := filepath.Join(data, "media", ".incoming")
	for _, folder := range []string{temp, incoming} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "recado-download-1"), []byte("plain"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	testkit.Start(t, testkit.Options{DataDir: data})
	for _, folder := range []string{temp, incoming} {
		entries, err := os.ReadDir(folder)
		if err != nil || len(entries) != 0 {
			t.Errorf("%s has %v, %v", folder, entries, err)
		}
		if about, err := os.Stat(folder); err != nil || about.Mode().Perm() != 0o700 {
			t.Errorf("%s is %v, %v", folder, about.Mode(), err)
		}
	}
}
