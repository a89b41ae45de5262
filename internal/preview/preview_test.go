package preview_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"image/jpeg"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/media/mediatest"
	"github.com/recado-project/recado/internal/preview"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// finder makes a finder; private says that it may fetch from this machine.
func finder(tb testing.TB, private bool, timeout time.Duration) *preview.Finder {
	tb.Helper()
	web, err := media.New(media.Config{AllowPrivate: private, TempDir: tb.TempDir(), FFmpeg: media.NoFFmpeg})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := web.Close(); err != nil {
			tb.Error(err)
		}
	})
	f, err := preview.New(preview.Config{Web: web, Timeout: timeout, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// site is a server of pages, by path.
func site(tb testing.TB, pages map[string]http.HandlerFunc) *httptest.Server {
	tb.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if page := pages[r.URL.Path]; page != nil {
			page(w, r)
			return
		}
		http.NotFound(w, r)
	}))
	tb.Cleanup(server.Close)
	return server
}

func says(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, body)
	}
}

const htmlType = "text/html; charset=utf-8"

// What a page says of itself is found, in its order of preference.
func TestFind(t *testing.T) {
	t.Parallel()
	server := site(t, map[string]http.HandlerFunc{
		"/product": says(htmlType, `<!doctype html><HTML><head><title>Shop</title><meta property="og:title" content="Caf&eacute; &amp; bolo">`+
			`<META NAME=description CONTENT="Um texto"><meta property="og:description" content=" De manh&atilde; "><meta property="og:image" content="/a.png"></head><body>`),
		"/a.png":     says("image/png", string(mediatest.PNG(t, 400, 200))),
		"/title":     says(htmlType, "<title>\n Only  a title </title>"),
		"/latin":     says("text/html", "<meta charset=iso-8859-1><title>Caf\xe9</title>"),
		"/none":      says("text/html", "<title>Caf\xe9</title>"),
		"/wrong":     says(htmlType, "<title>Caf\xe9</title>"),
		"/other":     says("text/html; charset=shift_jis", "<title>\x83\x65\x83\x58</title>"),
		"/moved":     func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/sub/title", http.StatusFound) },
		"/sub/title": says(htmlType, `<title>Moved</title><meta name=twitter:image content="../a.png">`),
		"/script":    says(htmlType, `<script>"<title>no</title>"</script><title>yes</title>`),
		"/body":      says(htmlType, `<head></head><body><title>no</title>`),
		"/signs":     says(htmlType, "<title>a\u202e\u0000b\nc</title>"),
		"/picture":   says("image/png", string(mediatest.PNG(t, 4, 4))),
	})
	f := finder(t, true, time.Minute)
	for text, want := range cases.Sorted(map[string]*gateway.LinkPreview{
		"no link":                      nil,
		"ftp://a/b mailto:a@b.example": nil,
		"http://user:secret@" + server.URL[7:] + "/title":         nil,
		"veja (" + server.URL + "/product).":                      {URL: server.URL + "/product", Title: "Café & bolo", Description: "De manhã", Thumbnail: []byte{1}},
		server.URL + "/title, e mais":                             {URL: server.URL + "/title", Title: "Only  a title"},
		strings.Replace(server.URL, "http", "HTTP", 1) + "/title": {URL: strings.Replace(server.URL, "http", "HTTP", 1) + "/title", Title: "Only  a title"},
		server.URL + "/latin":                                     {URL: server.URL + "/latin", Title: "Café"},
		server.URL + "/none":                                      {URL: server.URL + "/none", Title: "Café"},
		server.URL + "/wrong":                                     {URL: server.URL + "/wrong", Title: "Caf\uFFFD"},
		server.URL + "/other":                                     nil,
		server.URL + "/moved":                                     {URL: server.URL + "/moved", Title: "Moved", Thumbnail: []byte{1}},
		server.URL + "/script":                                    {URL: server.URL + "/script", Title: "yes"},
		server.URL + "/body":                                      nil,
		server.URL + "/picture":                                   nil,
		server.URL + "/missing":                                   nil,
	}) {
		got := f.Find(t.Context(), text)
		if (got == nil) != (want == nil) {
			t.Errorf("%q: %+v, want %+v", text, got, want)
			continue
		}
		if got == nil {
			continue
		}
		if got.URL != want.URL || got.Title != want.Title || got.Description != want.Description || (got.Thumbnail == nil) != (want.Thumbnail == nil) {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
		if got.Thumbnail != nil {
			if small, err := jpeg.DecodeConfig(bytes.NewReader(got.Thumbnail)); err != nil || small.Width > 100 {
				t.Errorf("%q: a picture of %d pixels (%v)", text, small.Width, err)
			}
		}
	}
	if got := f.Find(t.Context(), server.URL+"/signs"); got == nil || strings.ContainsAny(got.Title, "\u202e\x00\n") {
		t.Errorf("signs that can't be seen: %+v", got)
	}
}

// Pages that mean harm cost little, and the text is sent.
func TestHostilePages(t *testing.T) {
	t.Parallel()
	bomb := mediatest.PNG(t, 4, 4)
	binary.BigEndian.PutUint32(bomb[16:], 60_000)
	binary.BigEndian.PutUint32(bomb[20:], 60_000)
	binary.BigEndian.PutUint32(bomb[29:], crc32.ChecksumIEEE(bomb[12:29]))
	var written atomic.Int64
	endless := func(contentType, begin, rest string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			_, err := io.WriteString(w, begin)
			piece := []byte(strings.Repeat(rest, 1+(64<<10)/len(rest)))
			for err == nil && written.Load() < 1<<30 {
				var n int
				n, err = w.Write(piece)
				written.Add(int64(n))
			}
		}
	}
	picture := func(path string) http.HandlerFunc {
		return says(htmlType, `<title>ok</title><meta property="og:image" content="`+path+`">`)
	}
	server := site(t, map[string]http.HandlerFunc{
		"/endless":    endless(htmlType, "<title>ok</title>", "<meta name=x content=y>"),
		"/one-tag":    endless(htmlType, "<title>ok</title><meta content=", "a"),
		"/one-title":  endless(htmlType, "<title>", "a"),
		"/bomb":       picture("/bomb.png"),
		"/bomb.png":   says("image/png", string(bomb)),
		"/large":      picture("/large.png"),
		"/large.png":  endless("image/png", string(mediatest.PNG(t, 4, 4)[:20]), "a"),
		"/no-picture": picture("/endless"),
		"/odd":        picture("javascript:alert(1)"),
		"/odder":      picture("file:///etc/passwd"),
		"/circle":     func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/circle", http.StatusFound) },
		"/announced": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000000000")
			w.Header().Set("Content-Type", htmlType)
		},
		"/a-lot-of-og": says(htmlType, strings.Repeat(`<meta property="og:title" content="ok">`, 10_000)),
		"/long":        says(htmlType, "<title>"+strings.Repeat("ok", 10_000)+"</title>"),
	})
	f := finder(t, true, time.Minute)
	for path, want := range cases.Sorted(map[string]string{
		"/endless": "ok", "/one-tag": "ok", "/one-title": strings.Repeat("a", gateway.MaxName), "/bomb": "ok", "/large": "ok", "/no-picture": "ok", "/odd": "ok", "/odder": "ok",
		"/circle": "", "/announced": "", "/a-lot-of-og": "ok", "/long": strings.Repeat("ok", gateway.MaxName/2),
	}) {
		got := f.Find(t.Context(), server.URL+path)
		if got == nil {
			got = &gateway.LinkPreview{}
		}
		if got.Title != want || got.Thumbnail != nil {
			t.Errorf("%s: %+v, want the title %q alone", path, got, want)
		}
	}
	if written.Load() > 64<<20 {
		t.Errorf("%d bytes were taken", written.Load())
	}
}

// A server that does not go on holds nobody up; what it has said before counts.
func TestPagesThatStall(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	t.Cleanup(func() { close(ended) })
	stall := func(begin string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", htmlType)
			_, _ = io.WriteString(w, begin)
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
			case <-ended:
			}
		}
	}
	server := site(t, map[string]http.HandlerFunc{"/silent": stall(""), "/title": stall("<title>ok</title><p>")})
	f := finder(t, true, 2*time.Second)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	if got := f.Find(ctx, server.URL+"/silent"); got != nil || ctx.Err() != nil {
		t.Errorf("a silent page: %+v (%v)", got, ctx.Err())
	}
	if got := f.Find(ctx, server.URL+"/title"); ctx.Err() != nil || got == nil || got.Title != "ok" {
		t.Errorf("a page that stalls after its title: %+v", got)
	}
}

// Nothing is fetched from this machine or its network.
func TestPrivateAddresses(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		says(htmlType, "<title>secret</title>")(w, nil)
	}))
	t.Cleanup(server.Close)
	f := finder(t, false, time.Minute)
	for _, link := range []string{server.URL, "http://localhost:" + server.URL[strings.LastIndex(server.URL, ":")+1:], "http://169.254.169.254/latest", "http://[::1]/"} {
		if got := f.Find(t.Context(), link); got != nil || asked.Load() > 0 {
			t.Errorf("%s: %+v", link, got)
		}
	}
}

func FuzzFind(f *testing.F) {
	f.Add("text/html", "<title>a</title><meta property=og:title content=b>", "/a")
	f.Add("text/html; charset=latin1", "<META content='\xff\x00' name=\"description\"><title><title>", "")
	f.Add("application/xhtml+xml", "<title/><meta property=og:image content='http://[::1'>", "?a#b")
	var contentType, body atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = []string{contentType.Load().(string)}
		_, _ = io.WriteString(w, body.Load().(string))
	}))
	f.Cleanup(server.Close)
	find := finder(f, true, time.Minute)
	f.Fuzz(func(t *testing.T, kind, page, path string) {
		contentType.Store(strings.Map(func(r rune) rune {
			if r < ' ' || r > '~' {
				return -1
			}
			return r
		}, kind))
		body.Store(page)
		got := find.Find(t.Context(), "a "+server.URL+"/"+path)
		if got == nil {
			return
		}
		if got.Title == "" || got.Title != gateway.CleanName(got.Title) || got.Description != gateway.CleanDescription(got.Description) {
			t.Errorf("%+v is not clean", got)
		}
	})
}
