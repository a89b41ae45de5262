package server_test

import (
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/s3"
)

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
