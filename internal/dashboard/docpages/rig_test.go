package docpages_test

import (
	"context"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/recado-project/recado/docs"
	"github.com/recado-project/recado/internal/dashboard/docpages"
	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/reference"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/user"
	"github.com/recado-project/recado/internal/web"
	"github.com/recado-project/recado/internal/web/webtest"
)

func TestEveryWordIsTranslated(t *testing.T) {
	t.Parallel()
	webtest.Words(t)
}

// nobody keeps no audit list: reading is not recorded.
type nobody struct{}

func (nobody) Record(context.Context, user.Actor, user.Action, string, string) {}

// rig is the pages of some documents.
type rig struct {
	pages *frame.Pages
}

// newRig makes the pages of the documents of the program, or of others.
func newRig(t *testing.T, documents fs.FS) *rig {
	t.Helper()
	return newTrying(t, documents, nil)
}

// newTrying makes the same pages, from which requests can be sent.
func newTrying(t *testing.T, documents fs.FS, try *docpages.Try) *rig {
	t.Helper()
	if documents == nil {
		documents = docs.Guides
	}
	rooms := []web.Files{frame.Files, docpages.Files}
	words, err := web.ReadWords(rooms...)
	if err != nil {
		t.Fatal(err)
	}
	assets, err := web.NewAssets(rooms...)
	if err != nil {
		t.Fatal(err)
	}
	logger := slog.New(slog.DiscardHandler)
	site, err := web.NewSite(web.SiteConfig{Rooms: rooms, Words: words, Assets: assets, Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	if err := site.Check(); err != nil {
		t.Fatal(err)
	}
	pages, err := docpages.New(docpages.Config{
		Site: site, Logger: logger, Users: nobody{}, Documents: documents,
		Reference: func() (*reference.Reference, error) { return described(), nil },
		Origin:    func(r *http.Request) string { return "http://" + r.Host },
		Try:       try,
	})
	if err != nil {
		t.Fatal(err)
	}
	return &rig{pages}
}

// of makes documents of their texts, with a list of them.
func of(texts map[string]string) fs.FS {
	files, list := fstest.MapFS{}, "# Docs\n\n## All\n\n| page | what |\n| --- | --- |\n"
	for name, text := range cases.Sorted(texts) {
		files[name] = &fstest.MapFile{Data: []byte(text)}
		list += "| [" + name + "](" + name + ") | about it |\n"
	}
	files["README.md"] = &fstest.MapFile{Data: []byte(list)}
	return files
}

// get fetches a page with some headers, each as "name: value".
func (r *rig) get(t *testing.T, path string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		request.Header.Set(name, value)
	}
	answer := httptest.NewRecorder()
	r.pages.ServeHTTP(answer, request)
	return answer
}

// page fetches a page that is there.
func (r *rig) page(t *testing.T, path string, headers ...string) string {
	t.Helper()
	answer := r.get(t, path, headers...)
	if answer.Code != http.StatusOK {
		t.Fatalf("%s: status %d", path, answer.Code)
	}
	return answer.Body.String()
}

// article returns the text of a document on its page.
func article(t *testing.T, page string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, `<article class="prose"`)
	text, _, _ := strings.Cut(rest, "</article>")
	if !found {
		t.Fatal("the page has no article")
	}
	return text
}

// Strangers read the documents with a link to the dashboard, users inside the dashboard.
func TestWhoReads(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	stranger := r.page(t, "/docs/guide")
	if !strings.Contains(stranger, `class="top"`) || !strings.Contains(stranger, `href="/instances"`) || strings.Contains(stranger, "/signout") {
		t.Error("a stranger does not get the page with a link to the dashboard")
	}
	request := httptest.NewRequestWithContext(frame.WithVisitor(t.Context(), frame.Visitor{
		Actor: user.Actor{UserID: "1", Name: "Ana", Role: gateway.RoleViewer},
	}), http.MethodGet, "/docs/guide", http.NoBody)
	answer := httptest.NewRecorder()
	r.pages.ServeHTTP(answer, request)
	if page := answer.Body.String(); !strings.Contains(page, "/signout") || !strings.Contains(page, `<a href="/docs" aria-current="page">`) {
		t.Error("a user does not get the page inside the dashboard")
	}
}

// What is asked for by its old address is still there.
func TestAddressesStay(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	for path, want := range cases.Sorted(map[string]struct {
		status   int
		kind, to string
	}{
		"/docs/":                        {http.StatusSeeOther, "", "/docs"},
		"/docs/api/":                    {http.StatusSeeOther, "", "/docs/api"},
		"/docs/api/nothing":             {http.StatusNotFound, "text/html; charset=utf-8", ""},
		"/docs/guide.md":                {http.StatusOK, "text/plain; charset=utf-8", ""},
		"/docs/README.md":               {http.StatusOK, "text/plain; charset=utf-8", ""},
		"/docs/webhooks/go/receiver.go": {http.StatusOK, "text/plain; charset=utf-8", ""},
		"/docs/pictures/chats.png":      {http.StatusOK, "image/png", ""},
		"/docs/openapi.yaml":            {http.StatusFound, "", "/openapi.yaml"},
		"/docs/nowhere":                 {http.StatusNotFound, "text/html; charset=utf-8", ""},
		"/docs/nowhere.md":              {http.StatusNotFound, "text/html; charset=utf-8", ""},
		"/docs/pictures":                {http.StatusNotFound, "text/html; charset=utf-8", ""},
		"/docs/webhooks/":               {http.StatusNotFound, "text/html; charset=utf-8", ""},
	}) {
		got := r.get(t, path)
		if got.Code != want.status || got.Header().Get("Location") != want.to || want.kind != "" && got.Header().Get("Content-Type") != want.kind {
			t.Errorf("%s: %d, %v", path, got.Code, got.Header())
		}
	}
	for path, want := range cases.Sorted(map[string]bool{
		"/docs": true, "/docs/guide": true, "/docs/api": true, "/docs/api/sendText": true, "/docs/apicture": true, "/docsets": false,
	}) {
		if docpages.Owns(path) != want {
			t.Errorf("%s: not %v", path, want)
		}
	}
}
