// The website is written page by page, from link to link.

package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/recado-project/recado/docs"
	"github.com/recado-project/recado/internal/dashboard/docpages"
	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/reference"
	"github.com/recado-project/recado/internal/server"
	"github.com/recado-project/recado/internal/user"
	"github.com/recado-project/recado/internal/web"
)

// Files are the front page, and what the pages have in place of what needs a gateway.
//
//go:embed *.html locale assets
var Files embed.FS

const (
	// example is the gateway that samples call: recado dev is there.
	example = "http://127.0.0.1:8080"
	// specification is where the pages link to the API's document.
	specification = "/openapi.yaml"
)

// site is the website while it is written.
type site struct {
	folder   string
	document string // the file of the API's document
	words    *web.Words
	made     *web.Site
	assets   *web.Assets
	pages    http.Handler

	queue   []place
	written map[place]bool
}

// place is a page or a file of the program, in a language.
type place struct {
	lang, path string
}

// generate writes the website into a folder. document is the file of the API's document.
func generate(ctx context.Context, document, folder string) error {
	described, err := describe(ctx)
	if err != nil {
		return err
	}
	rooms := []web.Files{frame.Files, docpages.Files, Files}
	s := &site{folder: folder, document: document, written: map[place]bool{}}
	if s.words, err = web.ReadWords(rooms...); err != nil {
		return err
	}
	if s.assets, err = web.NewAssets(rooms...); err != nil {
		return err
	}
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if s.made, err = web.NewSite(web.SiteConfig{Rooms: rooms, Words: s.words, Assets: s.assets, Logger: logger}); err != nil {
		return err
	}
	s.pages, err = docpages.New(docpages.Config{
		Site: s.made, Logger: logger, Users: nobody{}, Documents: docs.Guides,
		Reference: func() (*reference.Reference, error) { return described, nil },
		Origin:    func(*http.Request) string { return example },
	})
	if err != nil {
		return err
	}
	for _, lang := range s.words.Languages() {
		s.queue = append(s.queue, place{lang, "/"})
	}
	for len(s.queue) > 0 {
		next := s.queue[0]
		s.queue = s.queue[1:]
		if s.written[next] {
			continue
		}
		s.written[next] = true
		if err := s.write(ctx, next); err != nil {
			return fmt.Errorf("%s in %s: %w", next.path, next.lang, err)
		}
	}
	return nil
}

// describe describes the API of this program. It builds a gateway for it, which is not run.
func describe(ctx context.Context) (_ *reference.Reference, err error) {
	folder, err := os.MkdirTemp("", "recado-site-")
	if err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	logger := slog.New(slog.DiscardHandler)
	opened, err := server.New(ctx, server.Config{
		Listen: "127.0.0.1:0", DataDir: folder, Version: "site", Logger: logger,
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	return opened.Reference()
}

// nobody keeps no audit list: reading is not recorded.
type nobody struct{}

func (nobody) Record(context.Context, user.Actor, user.Action, string, string) {}

// write writes one page or file.
func (s *site) write(ctx context.Context, at place) error {
	content, err := s.content(ctx, at)
	if err != nil {
		return err
	}
	file := s.file(at)
	if strings.HasSuffix(file, ".html") {
		if content, err = s.relink(at, content); err != nil {
			return err
		}
	}
	where := filepath.Join(s.folder, filepath.FromSlash(file))
	if err := os.MkdirAll(filepath.Dir(where), 0o755); err != nil { //nolint:gosec // for everybody to read
		return fmt.Errorf("make a folder: %w", err)
	}
	if err := os.WriteFile(where, content, 0o644); err != nil { //nolint:gosec // as above
		return fmt.Errorf("write a file: %w", err)
	}
	return nil
}

// startView is what the layout shows around the front page.
type startView struct {
	Title, Section string
	Texts          map[string]string // for the page's script
	Body           struct {
		Lang  string
		Names map[string]string // of all languages, in themselves
	}
}

// content returns a page as the program shows it, or a file.
func (s *site) content(ctx context.Context, at place) ([]byte, error) {
	switch at.path {
	case "/":
		view := startView{Title: s.words.Text(at.lang, web.Word("A messenger gateway of your own")), Texts: map[string]string{
			"copied": s.words.Text(at.lang, web.Word("Copied.")), "close": s.words.Text(at.lang, web.Word("Close")),
		}}
		view.Body.Lang, view.Body.Names = at.lang, map[string]string{}
		for _, lang := range s.words.Languages() {
			view.Body.Names[lang] = s.words.Text(lang, web.Word("English"))
		}
		return s.made.Render(at.lang, "start", "layout", view)
	case specification:
		return os.ReadFile(s.document)
	}
	handler := s.pages
	if strings.HasPrefix(at.path, web.AssetsPath) {
		handler = s.assets
	}
	request := httptest.NewRequestWithContext(ctx, http.MethodGet, at.path, http.NoBody)
	request.Header.Set("Accept-Language", at.lang)
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	if answer.Code != http.StatusOK {
		return nil, fmt.Errorf("answered with status %d", answer.Code)
	}
	return answer.Body.Bytes(), nil
}

// file is where a page or file is written, from the folder of the site. What is no page is the same in every language.
func (s *site) file(at place) string {
	folder := ""
	if at.lang != web.English {
		folder = at.lang + "/"
	}
	switch {
	case at.path == "/":
		return folder + "index.html"
	case at.path == docpages.Root:
		return folder + "docs/index.html"
	case path.Ext(at.path) != "":
		return strings.TrimPrefix(at.path, "/")
	default:
		return folder + strings.TrimPrefix(at.path, "/") + ".html"
	}
}

// links finds the addresses of this site in a page: the quotes of texts are escaped.
var links = regexp.MustCompile(`\b(href|src)="(/[^"]*)"`)

// relink makes the links of a page relative, and queues what they lead to.
func (s *site) relink(at place, content []byte) ([]byte, error) {
	var errs []error
	from := path.Dir(s.file(at))
	relinked := links.ReplaceAllFunc(content, func(link []byte) []byte {
		parts := links.FindSubmatch(link)
		target, err := url.Parse(html.UnescapeString(string(parts[2])))
		if err != nil {
			errs = append(errs, err)
			return link
		}
		to := place{at.lang, target.Path}
		if wanted := target.Query().Get("lang"); slices.Contains(s.words.Languages(), wanted) {
			to.lang = wanted
		}
		if path.Ext(to.path) != "" {
			to.lang = web.English
		}
		s.queue = append(s.queue, to)
		relative, err := filepath.Rel(from, s.file(to))
		if err != nil {
			errs = append(errs, err)
			return link
		}
		address := url.URL{Path: filepath.ToSlash(relative), Fragment: target.Fragment}
		return []byte(string(parts[1]) + `="` + html.EscapeString(address.String()) + `"`)
	})
	return relinked, errors.Join(errs...)
}
