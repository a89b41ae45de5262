package api_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/api"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/media/folder"
	"github.com/recado-project/recado/internal/media/upload"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/cases"
)

const fileKey = "019aa1f4-5b0c-7e43-9d1f-6a1f2f6f3b11/019aa1f4-8d52-7c1e-b3a0-0f4de1c9a7b2"

// newDownloads is the API with one file, whose content is "0123456789", and the
// links to it. The stub decides whether the file may be handed out.
func newDownloads(t *testing.T) (*fixture, *media.Links, *outcome) {
	t.Helper()
	blobs, err := openBlobs(t)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := blobs.Close(); err != nil {
			t.Error(err)
		}
	})
	meta := media.BlobMeta{MimeType: "image/jpeg", Size: -1}
	if err := blobs.Put(t.Context(), fileKey, strings.NewReader("0123456789"), meta); err != nil {
		t.Fatal(err)
	}
	links, err := media.NewLinks(media.LinksConfig{Blobs: blobs, Secret: make([]byte, media.MinLinkSecret), Now: now})
	if err != nil {
		t.Fatal(err)
	}
	stub := &outcome{}
	return newFixture(t, func(c *api.Config) { c.Files, c.Messages = links, stub }), links, stub
}

// openBlobs opens files in a folder of the test.
func openBlobs(tb testing.TB, changed ...func(media.Store) media.Store) (*media.Blobs, error) {
	tb.Helper()
	store, err := folder.Open(folder.Config{Path: tb.TempDir()})
	if err != nil {
		return nil, err
	}
	config := media.BlobsConfig{Store: store}
	for _, change := range changed {
		config.Store = change(config.Store)
	}
	return media.OpenBlobs(tb.Context(), config)
}

// newUploads are uploads in a folder of the test.
func newUploads(tb testing.TB, data *store.Store, logger *slog.Logger) *upload.Service {
	tb.Helper()
	blobs, err := openBlobs(tb)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = blobs.Close() })
	service, err := media.New(media.Config{TempDir: tb.TempDir(), FFmpeg: media.NoFFmpeg})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = service.Close() })
	links, err := media.NewLinks(media.LinksConfig{Blobs: blobs, Uploads: blobs, Secret: make([]byte, media.MinLinkSecret), Now: now})
	if err != nil {
		tb.Fatal(err)
	}
	made, err := upload.New(upload.Config{
		Store: data, Media: service, Files: blobs, Links: links, LinkLifetime: func() time.Duration { return time.Hour }, Logger: logger, Now: now,
		RemovalTime: gateway.Trusting(now),
	})
	if err != nil {
		tb.Fatal(err)
	}
	return made
}

func ranged(span string) http.Header {
	if span == "" {
		return nil
	}
	return http.Header{"Range": {span}}
}

func TestDownload(t *testing.T) {
	t.Parallel()
	f, links, _ := newDownloads(t)
	link := links.URL("", fileKey, "praça.jpg", time.Hour)
	for _, test := range []struct {
		name, method, ranged string
		status               int
		body, length         string
	}{
		{"whole", get, "", http.StatusOK, "0123456789", "10"},
		{"head", http.MethodHead, "", http.StatusOK, "", "10"},
		{"range", get, "bytes=2-4", http.StatusPartialContent, "234", "3"},
		{"end", get, "bytes=-2", http.StatusPartialContent, "89", "2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			response := f.follow(t, request{method: test.method, path: link, header: ranged(test.ranged)})
			if body := response.Body.String(); response.Code != test.status || body != test.body {
				t.Errorf("answered %d with %q, want %d with %q", response.Code, body, test.status, test.body)
			}
			for name, want := range cases.Sorted(map[string]string{
				"Content-Type":            "image/jpeg",
				"Content-Length":          test.length,
				"Content-Disposition":     `attachment; filename="pra_a.jpg"; filename*=UTF-8''pra%C3%A7a.jpg`,
				"Content-Security-Policy": "default-src 'none'; sandbox",
				"X-Content-Type-Options":  "nosniff",
				"Cache-Control":           "private",
				"Accept-Ranges":           "bytes",
			}) {
				if got := response.Header().Get(name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
		})
	}
	t.Run("other methods", func(t *testing.T) {
		t.Parallel()
		r := request{method: post, path: link}
		response := f.follow(t, r)
		wantRefusal(t, r, response, http.StatusMethodNotAllowed, gateway.CodeMethodNotAllowed)
		if allowed := response.Header().Get("Allow"); allowed != "GET, HEAD" {
			t.Errorf("it allows %q", allowed)
		}
	})
	t.Run("a file that is gone", func(t *testing.T) {
		t.Parallel()
		r := request{path: links.URL("", "0199/gone", "a", time.Hour)}
		wantRefusal(t, r, f.follow(t, r), http.StatusNotFound, gateway.CodeMediaNotFound)
	})
	t.Run("a link that was changed", func(t *testing.T) {
		t.Parallel()
		r := request{path: link + "x"}
		wantRefusal(t, r, f.follow(t, r), http.StatusForbidden, gateway.CodeForbidden)
	})
}

// A refused range is answered like every other failure, and says how long the
// file is. None of the file's other headers is left.
func TestDownloadOfARangeThatCannotBeServed(t *testing.T) {
	t.Parallel()
	f, links, _ := newDownloads(t)
	link := links.URL("", fileKey, "a.jpg", time.Hour)
	for _, test := range []struct{ name, method, ranged, size string }{
		{"beyond", get, "bytes=10-", "bytes */10"},
		{"head", http.MethodHead, "bytes=10-20", "bytes */10"},
		{"malformed", get, "bytes=x", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := request{method: test.method, path: link, header: ranged(test.ranged)}
			response := f.follow(t, r)
			header := response.Header()
			body := wantRefusal(t, r, response, http.StatusRequestedRangeNotSatisfiable, gateway.CodeOutOfRange)
			if want := "the range " + test.ranged + " can't be served: the file has 10 bytes"; body.Message != want {
				t.Errorf("it says %q, want %q", body.Message, want)
			}
			if got := header.Get("Content-Range"); got != test.size {
				t.Errorf("Content-Range is %q, want %q", got, test.size)
			}
			if got := header.Get("Content-Disposition"); got != "" {
				t.Errorf("Content-Disposition is %q", got)
			}
		})
	}
}

// The file of a deleted message is not handed out, even if the link is genuine.
func TestDownloadOfADeletedMessage(t *testing.T) {
	t.Parallel()
	f, links, stub := newDownloads(t)
	stub.err = gateway.Errorf(gateway.NotFound, gateway.CodeMessageNotFound, "deleted")
	r := request{path: links.URL("", fileKey, "a", time.Hour)}
	wantRefusal(t, r, f.follow(t, r), http.StatusNotFound, gateway.CodeMessageNotFound)
}

// follow requests a link without a check against the document, whose other operations
// all answer JSON.
func (f *fixture) follow(tb testing.TB, r request) *httptest.ResponseRecorder {
	tb.Helper()
	loose := *f
	loose.loose = true
	return loose.do(tb, r)
}

// A file that is kept elsewhere is got there, after every check of its link; only its own
// pages get it from the gateway. What a request for the headers gets is the gateway's.
func TestDownloadFromElsewhere(t *testing.T) {
	t.Parallel()
	blobs, err := openBlobs(t, func(store media.Store) media.Store { return elsewhere{store} })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = blobs.Close() })
	if err := blobs.Put(t.Context(), fileKey, strings.NewReader("0123456789"), media.BlobMeta{MimeType: "image/png", Size: -1}); err != nil {
		t.Fatal(err)
	}
	links, err := media.NewLinks(media.LinksConfig{Blobs: blobs, Secret: make([]byte, media.MinLinkSecret), Now: now})
	if err != nil {
		t.Fatal(err)
	}
	stub := &outcome{}
	f := newFixture(t, func(c *api.Config) { c.Files, c.Messages = links, stub })
	link := strings.TrimPrefix(links.URL("https://recado.example", fileKey, "praça.png", time.Hour), "https://recado.example")
	led := f.follow(t, request{path: link})
	want := `https://bucket.example/` + fileKey + `?{image/png attachment; filename="pra_a.png"; filename*=UTF-8''pra%C3%A7a.png private}`
	if led.Code != http.StatusTemporaryRedirect || led.Header().Get("Location") != want || led.Body.Len() > 0 {
		t.Errorf("answered %d with %v, want %s", led.Code, led.Header(), want)
	}
	if got := led.Header(); got.Get("Cache-Control") != "no-store" || got.Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("the headers are %v", got)
	}
	if head := f.follow(t, request{method: http.MethodHead, path: link}); head.Code != http.StatusOK || head.Header().Get("Content-Length") != "10" {
		t.Errorf("a request for the headers is answered %d, %v", head.Code, head.Header())
	}
	if own := f.follow(t, request{path: links.URL("", fileKey, "a", time.Hour)}); own.Code != http.StatusOK || own.Body.String() != "0123456789" {
		t.Errorf("a page of our own is answered %d", own.Code)
	}
	if moved := f.follow(t, request{path: strings.Replace(link, "&signature", "&here=true&signature", 1)}); moved.Code != http.StatusForbidden {
		t.Errorf("a link that was changed is answered %d", moved.Code)
	}
	stub.err = gateway.Errorf(gateway.NotFound, gateway.CodeMessageNotFound, "deleted")
	r := request{path: link}
	wantRefusal(t, r, f.follow(t, r), http.StatusNotFound, gateway.CodeMessageNotFound)
}

// elsewhere is a store whose files others can read at another host.
type elsewhere struct{ media.Store }

// Get implements media.Store.
func (e elsewhere) Get(ctx context.Context, key string) (*media.Blob, error) {
	blob, err := e.Store.Get(ctx, key)
	if err == nil {
		blob.Presign = func(_ context.Context, as media.Answer) (string, error) {
			return fmt.Sprintf("https://bucket.example/%s?%v", key, as), nil
		}
	}
	return blob, err
}
