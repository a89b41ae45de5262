package control

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/outbound"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func newTestAPI() *api { return guardedTestAPI(nil) }

func guardedTestAPI(guard *outbound.Guard) *api {
	return &api{web: newFetcher(guard), config: Config{Logger: slog.New(slog.DiscardHandler)}}
}

// The control API needs no key, so it must not fetch files from private addresses.
func TestFilesAreNotFetchedFromPrivateAddresses(t *testing.T) {
	reached := false
	private := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	t.Cleanup(private.Close)
	t.Setenv("HTTP_PROXY", private.URL)
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1:8080/", http.NoBody)
	for _, input := range []string{private.URL, "http://169.254.169.254/latest", "http://203.0.113.1/by/proxy"} {
		_, err := guardedTestAPI(outbound.NewGuard(nil)).readMedia(request, "media", input)
		if err == nil || !strings.Contains(err.Error(), "not allowed") {
			t.Errorf("%s: %v", input, err)
		}
	}
	if reached {
		t.Error("a private address was reached")
	}
	// The sandbox's own files are found under every name by which the sandbox is
	// reached.
	file, err := guardedTestAPI(outbound.NewGuard(nil)).readMedia(request, "media", "http://127.0.0.1:8080/sandbox/files/photo.png")
	if err != nil || file.mimeType != "image/png" || len(file.content) == 0 {
		t.Errorf("a sample: %d bytes of %q, %v", len(file.content), file.mimeType, err)
	}
}

func TestReadMedia(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/missing":
			http.NotFound(w, r)
		case "/plain":
			w.Header().Set("Content-Type", "application/octet-stream")
			_, _ = io.WriteString(w, "GIF89a picture")
		default:
			w.Header().Set("Content-Type", "audio/ogg; codecs=opus")
			_, _ = io.WriteString(w, "hum")
		}
	}))
	t.Cleanup(web.Close)
	data := base64.StdEncoding.EncodeToString([]byte("hello"))
	for _, c := range []struct{ input, content, kind, fault string }{
		{"data:text/plain;base64," + data, "hello", "text/plain", ""},
		{"data:audio/ogg; codecs=opus;base64," + data, "hello", "audio/ogg; codecs=opus", ""},
		{"data:;base64," + data, "hello", "text/plain; charset=utf-8", ""},
		{web.URL + "/hum.ogg", "hum", "audio/ogg; codecs=opus", ""},
		{web.URL + "/plain", "GIF89a picture", "image/gif", ""},
		{web.URL + "/missing", "", "", "404"},
		{"http://127.0.0.1:1/", "", "", "fetched"},
		{"data:text/plain," + data, "", "", "base64"},
		{"data:text/plain;base64,%%%", "", "", "base64"},
		{"data:text/plain;base64,", "", "", "content"},
		{"ftp://somewhere", "", "", "data URI"},
		{"", "", "", "data URI"},
	} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", http.NoBody)
		file, err := newTestAPI().readMedia(request, "media", c.input)
		if c.fault != "" {
			if err == nil || !strings.Contains(err.Error(), c.fault) || !strings.HasPrefix(err.Error(), "media: ") {
				t.Errorf("%q: %v", c.input, err)
			}
			continue
		}
		if err != nil || string(file.content) != c.content || file.mimeType != c.kind {
			t.Errorf("%q: %q of %q (%v)", c.input, file.content, file.mimeType, err)
		}
	}
}

func TestRemovableDistinguishesNullFromAbsent(t *testing.T) {
	t.Parallel()
	for text, want := range cases.Sorted(map[string]removable{
		`{}`: {}, `{"picture":null}`: {present: true}, `{"picture":"x"}`: {present: true, value: new("x")},
	}) {
		var body struct {
			Picture removable `json:"picture"`
		}
		if err := json.Unmarshal([]byte(text), &body); err != nil {
			t.Fatal(err)
		}
		got := body.Picture
		if got.present != want.present || (got.value == nil) != (want.value == nil) || (got.value != nil && *got.value != *want.value) {
			t.Errorf("%s is %+v", text, got)
		}
	}
}

func FuzzParseDataURI(f *testing.F) {
	f.Add("data:image/png;base64,aGk=")
	f.Add("data:,")
	f.Fuzz(func(t *testing.T, input string) {
		file, err := parseDataURI(input)
		if err != nil {
			return
		}
		again, err := parseDataURI("data:" + file.mimeType + ";base64," + base64.StdEncoding.EncodeToString(file.content))
		if err != nil || !bytes.Equal(again.content, file.content) {
			t.Errorf("%q was read differently the second time (%v)", input, err)
		}
	})
}
