package web_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/web"
	"github.com/recado-project/recado/internal/web/webtest"
)

func TestEveryWordIsTranslated(t *testing.T) {
	t.Parallel()
	webtest.Words(t)
}

// site is a site with one page and two languages.
func site(t *testing.T, page string) *web.Site {
	t.Helper()
	return siteOf(t, page, false)
}

func siteOf(t *testing.T, page string, zip bool) *web.Site {
	t.Helper()
	room := fstest.MapFS{
		"page.html":         {Data: []byte(`{{define "content"}}` + page + `{{end}}`)},
		"_layout.html":      {Data: []byte(`{{define "layout"}}<html lang="{{lang}}">{{template "content" .}}</html>{{end}}`)},
		"locale/pt-BR.json": {Data: []byte(`{"Hello, %s!": "Olá, %s!", "one day": "um dia", "%s days": "%s dias"}`)},
		"locale/es.json":    {Data: []byte(`{"Hello, %s!": "Hola, %s", "one day": "un día", "%s days": "%s días"}`)},
	}
	words, err := web.ReadWords(room)
	if err != nil {
		t.Fatal(err)
	}
	assets, err := web.NewAssets()
	if err != nil {
		t.Fatal(err)
	}
	made, err := web.NewSite(web.SiteConfig{Rooms: []web.Files{room}, Words: words, Assets: assets, Logger: slog.New(slog.DiscardHandler), Zip: zip})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// Translations that can't be read, or that two rooms do not agree on, are told of by the check of the site, and
// the page is shown in English.
func TestCheckTellsOfTranslations(t *testing.T) {
	t.Parallel()
	for second, want := range cases.Sorted(map[string]string{
		`{"Hello": "Olá"}`: "", `{"Hello": "Oi"}`: "another translation", `{"Hello"`: "read translations",
	}) {
		rooms := []web.Files{
			fstest.MapFS{
				"page.html":         {Data: []byte(`{{define "content"}}{{t "Hello"}}{{end}}`)},
				"_layout.html":      {Data: []byte(`{{define "layout"}}{{template "content" .}}{{end}}`)},
				"locale/pt-BR.json": {Data: []byte(`{"Hello": "Olá"}`)},
			},
			fstest.MapFS{"locale/pt-BR.json": {Data: []byte(second)}},
		}
		words, err := web.ReadWords(rooms...)
		if err != nil {
			t.Fatal(err)
		}
		assets, err := web.NewAssets()
		if err != nil {
			t.Fatal(err)
		}
		site, err := web.NewSite(web.SiteConfig{Rooms: rooms, Words: words, Assets: assets, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		shown := "Hello"
		if want == "" {
			shown = "Olá"
		}
		if got := show(t, site, "pt-BR", nil); got != shown {
			t.Errorf("with %s it shows %q", second, got)
		}
		if err := site.Check(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("with %s the check says %v", second, err)
		}
	}
}

func show(t *testing.T, s *web.Site, accept string, data any) string {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	r.Header.Set("Accept-Language", accept)
	w := httptest.NewRecorder()
	s.Page(w, r, http.StatusOK, "page", data)
	if w.Code != http.StatusOK {
		t.Fatalf("answered %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// Pages are compressed where they may be, for browsers that can read that.
func TestPagesAreCompressed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		may     bool
		accept  string
		becomes string
	}{{true, "gzip, br", "gzip"}, {true, "", ""}, {false, "gzip, br", ""}} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		r.Header.Set("Accept-Encoding", c.accept)
		w := httptest.NewRecorder()
		siteOf(t, "Hello", c.may).Page(w, r, http.StatusOK, "page", nil)
		var body io.Reader = w.Body
		if got := w.Header().Get("Content-Encoding"); got != c.becomes {
			t.Errorf("%+v: it is %q", c, got)
		}
		if c.becomes == "gzip" {
			var err error
			if body, err = gzip.NewReader(body); err != nil {
				t.Fatal(err)
			}
		}
		if content, err := io.ReadAll(body); err != nil || !strings.Contains(string(content), "Hello") {
			t.Errorf("%+v: %s (%v)", c, content, err)
		}
	}
}

// A page is in the language that the browser asks for, or in English.
func TestPagesSpeakTheBrowsersLanguage(t *testing.T) {
	t.Parallel()
	s := site(t, `{{t "Hello, %s!" .}}`)
	for accept, want := range cases.Sorted(map[string]string{
		"":                           `<html lang="en">Hello, Ana!`,
		"fr":                         `<html lang="en">Hello, Ana!`,
		"pt-BR,pt;q=0.9,en;q=0.8":    `<html lang="pt-BR">Olá, Ana!`,
		"pt":                         `<html lang="pt-BR">Olá, Ana!`,
		"es-MX,es;q=0.9,en;q=0.8":    `<html lang="es">Hola, Ana`,
		"es-419,pt-BR;q=0.5":         `<html lang="es">Hola, Ana`,
		"fr,es-AR;q=0.5":             `<html lang="es">Hola, Ana`,
		"en-US,pt-BR;q=0.5":          `<html lang="en">Hello, Ana!`,
		"?!":                         `<html lang="en">Hello, Ana!`,
		strings.Repeat("pt-BR,", 99): `<html lang="en">Hello, Ana!`,
	}) {
		if got := show(t, s, accept, "Ana"); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s", accept, got)
		}
	}
}

func TestPagesEscapeWhatComesFromOutside(t *testing.T) {
	t.Parallel()
	s := site(t, `{{t "Hello, %s!" .}}`)
	if got := show(t, s, "", `<script>alert(1)</script>`); strings.Contains(got, "<script") {
		t.Error(got)
	}
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 23, 9, 5, 0, 0, time.UTC)
	for _, c := range []struct{ page, accept, want string }{
		{`{{plural 1 "one day" "%s days"}}`, "pt-BR", "um dia"},
		{`{{plural 1200 "one day" "%s days"}}`, "pt-BR", "1.200 dias"},
		{`{{plural 1200 "one day" "%s days"}}`, "", "1,200 days"},
		{`{{plural 1200 "one day" "%s days"}}`, "es", "1.200 días"},
		{`{{number 1234567}}`, "", "1,234,567"},
		{`{{number 1234567}}`, "pt-BR", "1.234.567"},
		{`{{number 1234567}}`, "es", "1.234.567"},
		{`{{bytes 1023}}`, "", "1,023 B"},
		{`{{bytes 1023}}`, "pt-BR", "1.023 B"},
		{`{{bytes .N}}`, "", "1.5 KB"},
		{`{{bytes .N}}`, "pt-BR", "1,5 KB"},
		{`{{bytes .N}}`, "es", "1,5 KB"},
		{`{{bytes 357376}}`, "pt-BR", "349,0 KB"},
		{`{{when .At}}`, "", `<time datetime="2026-11-23T09:05:00Z" data-moment="datetime">2026-11-23 09:05:00</time>`},
		{`{{when .At}}`, "es", `<time datetime="2026-11-23T09:05:00Z" data-moment="datetime">23/11/2026 09:05:00</time>`},
		{`{{since .At}}`, "pt-BR", `<time datetime="2026-11-23T09:05:00Z" data-moment="relative">23/11/2026 09:05</time>`},
		{`{{when .At}}`, "pt-BR", `<time datetime="2026-11-23T09:05:00Z" data-moment="datetime">23/11/2026 09:05:00</time>`},
		{`{{clock .At}}`, "", `<time datetime="2026-11-23T09:05:00Z" data-moment="time">09:05</time>`},
		{`{{since .Never}}`, "", "—"},
		{`{{initial "  ana"}}{{initial ""}}{{initial "\u202eb"}}{{initial "<"}}`, "", "A?B&lt;"},
		{`{{isolate "Padaria 1"}}, {{isolate "\u202elive"}}`, "", "Padaria 1, live"},
		{`{{isolate "مخبز"}}`, "", "\u2068مخبز\u2069"},
	} {
		got := show(t, site(t, c.page), c.accept, map[string]any{"N": int64(1536), "At": at, "Never": time.Time{}})
		got = strings.TrimSuffix(got[strings.Index(got, ">")+1:], "</html>")
		if got != c.want {
			t.Errorf("%s: %s", c.page, got)
		}
	}
}

// Another site can't post, and the page's headers allow no foreign script.
func TestSecure(t *testing.T) {
	t.Parallel()
	handler := web.Secure(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	for _, c := range []struct {
		method, site string
		want         int
	}{
		{http.MethodGet, "cross-site", http.StatusNoContent},
		{http.MethodPost, "cross-site", http.StatusForbidden},
		{http.MethodPost, "same-site", http.StatusForbidden},
		{http.MethodPost, "same-origin", http.StatusNoContent},
		{http.MethodDelete, "cross-site", http.StatusForbidden},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, "http://recado.example/", http.NoBody)
		r.Header.Set("Sec-Fetch-Site", c.site)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%s from %s: answered %d", c.method, c.site, w.Code)
		}
		if policy := w.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "script-src 'self';") || strings.Contains(policy, "unsafe") {
			t.Errorf("the policy is %q", policy)
		}
	}
}

// A file's address changes with the file, so it may be kept for ever.
func TestAssets(t *testing.T) {
	t.Parallel()
	assets, err := web.NewAssets(fstest.MapFS{"assets/own.css": {Data: []byte("body{}")}})
	if err != nil {
		t.Fatal(err)
	}
	where, err := assets.URL("own.css")
	if err != nil || !regexp.MustCompile(`^/assets/own-[0-9a-f]{12}\.css$`).MatchString(where) {
		t.Fatalf("own.css is at %s (%v)", where, err)
	}
	for _, c := range []struct {
		method, path, encoding string
		want                   int
	}{
		{http.MethodGet, where, "", http.StatusOK},
		{http.MethodGet, where, "gzip", http.StatusOK},
		{http.MethodPost, where, "", http.StatusMethodNotAllowed},
		{http.MethodGet, "/assets/own.css", "", http.StatusNotFound},
		{http.MethodGet, "/assets/../web.go", "", http.StatusNotFound},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, "http://recado.example"+c.path, http.NoBody)
		r.Header.Set("Accept-Encoding", c.encoding)
		w := httptest.NewRecorder()
		assets.ServeHTTP(w, r)
		if w.Code != c.want || c.want == http.StatusOK && w.Header().Get("Content-Encoding") != c.encoding {
			t.Errorf("%s %s: answered %d, encoded as %q", c.method, c.path, w.Code, w.Header().Get("Content-Encoding"))
		}
	}
	if _, err := assets.URL("none.css"); err == nil {
		t.Error("there is an address of a file that does not exist")
	}
	// What the machine says about endings does not matter.
	w := httptest.NewRecorder()
	assets.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://recado.example"+where, http.NoBody))
	if got := w.Header().Get("Content-Type"); got != "text/css; charset=utf-8" {
		t.Errorf("the type is %q", got)
	}
	if _, err := web.NewAssets(fstest.MapFS{"assets/own.xyz": {}}); err == nil {
		t.Error("a file of an unknown type is served")
	}
}

// A browser can keep the dashboard as an app: the manifest is served as one, its icons are there, and the
// policy of the pages lets it be fetched.
func TestManifest(t *testing.T) {
	t.Parallel()
	assets, err := web.NewAssets()
	if err != nil {
		t.Fatal(err)
	}
	where, err := assets.URL("recado.webmanifest")
	if err != nil {
		t.Fatal(err)
	}
	get := func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		web.Secure(assets).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://recado.example"+path, http.NoBody))
		return w
	}
	answer := get(where)
	if got := answer.Header().Get("Content-Type"); answer.Code != http.StatusOK || got != "application/manifest+json" {
		t.Errorf("answered %d, of the type %q", answer.Code, got)
	}
	if policy := answer.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "manifest-src 'self';") {
		t.Errorf("the policy is %q", policy)
	}
	var manifest struct {
		Name    string `json:"name"`
		Start   string `json:"start_url"` //nolint:tagliatelle // the standard's name
		Display string `json:"display"`
		Icons   []struct {
			Source string `json:"src"`
			Kind   string `json:"type"`
		} `json:"icons"`
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &manifest); err != nil {
		t.Fatal(err)
	}
	if manifest.Name != "Recado" || manifest.Start != "/instances" || manifest.Display != "standalone" || len(manifest.Icons) == 0 {
		t.Errorf("the manifest is %s", answer.Body)
	}
	for _, icon := range manifest.Icons {
		if found := get(icon.Source); found.Code != http.StatusOK || found.Header().Get("Content-Type") != icon.Kind {
			t.Errorf("the icon %s of type %q: answered %d, of the type %q", icon.Source, icon.Kind, found.Code, found.Header().Get("Content-Type"))
		}
	}
}

// What a stream sends arrives as it was, whatever lines it has.
func TestStream(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		stream, err := web.NewStream(w)
		if err == nil {
			err = stream.Send("view", []byte("<p>one\r\ntwo\rid: 7\n</p>"))
		}
		if err == nil {
			err = stream.SignOfLife()
		}
		if err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	response, err := server.Client().Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if want := "retry: 1000\n\nevent: view\ndata: <p>one\ndata: two id: 7\ndata: </p>\n\n:\n\n"; string(got) != want {
		t.Errorf("got %q", got)
	}
}

// What others have made is checked in with its licence.
func TestLicences(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"htmx.org", "htmx-ext-sse", "idiomorph", "uplot", "lucide-static"} {
		if content, err := os.ReadFile("vendored/LICENSE." + name); err != nil || len(content) < 100 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Every icon is on some page, and every icon of a page is there. They are named where they are drawn, or
// given by this name to what draws them.
func TestIconsAreUsed(t *testing.T) {
	t.Parallel()
	used := map[string]string{}
	ways := map[string]*regexp.Regexp{
		".html": regexp.MustCompile(`(?:\bicon|"Icon") "([^"]+)"`), ".go": regexp.MustCompile(`\bIcon: +"([^"]+)"`),
	}
	err := fs.WalkDir(os.DirFS(".."), ".", func(path string, _ fs.DirEntry, err error) error {
		way := ways[filepath.Ext(path)]
		if err != nil || way == nil || strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := fs.ReadFile(os.DirFS(".."), path)
		for _, match := range way.FindAllSubmatch(content, -1) {
			used[string(match[1])] = path
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	listed, err := os.ReadFile("vendored/icons.txt")
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for name := range strings.FieldsSeq(string(listed)) {
		there[name] = true
		if used[name] == "" {
			t.Errorf("no page has the icon %s", name)
		}
		if _, err := os.Stat("vendored/icons/" + name + ".svg"); err != nil {
			t.Error(err)
		}
	}
	for name, where := range cases.Sorted(used) {
		if !there[name] {
			t.Errorf("%s draws the icon %s, which is not there", where, name)
		}
	}
	if files, err := filepath.Glob("vendored/icons/*"); err != nil || len(files) != len(there) {
		t.Errorf("%d icons are listed, and there are %d (%v)", len(there), len(files), err)
	}
}
