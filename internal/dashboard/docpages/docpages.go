// Package docpages shows the documents of docs/ and the API's reference as pages: with a menu, links that
// lead on, and a search over all of them. They are no secret, so that everybody may read them; who is signed
// in reads them inside the dashboard, and sends requests from the reference.
package docpages

import (
	"bytes"
	"embed"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/reference"
	"github.com/recado-project/recado/internal/required"
	"github.com/recado-project/recado/internal/user"
	"github.com/recado-project/recado/internal/web"
)

// Files are the templates, the style and the translations of the pages.
//
//go:embed *.html locale assets
var Files embed.FS

// Root is the address of the front page. All pages are below it.
const Root = "/docs"

// specification is the file that the reference is about, and specificationAddress where the API serves it with
// the gateway's own address.
const (
	specification        = "openapi.yaml"
	specificationAddress = "/" + specification
)

// Config is what the pages stand on. The first part is required.
type Config struct {
	Site   *web.Site // made of this package's Files and those of the frame
	Logger *slog.Logger
	Users  frame.Audit
	// Documents is docs/: README.md lists the pages, and a folder that is called like a language has translations.
	Documents fs.FS
	// Reference describes the API. It is called for each page that shows of it.
	Reference func() (*reference.Reference, error)
	// Origin is the address under which clients reach the API, as a request shows it.
	Origin func(*http.Request) string

	Try     *Try         // nil: requests are shown, and not sent
	Sandbox bool         // there are phones to look at
	Shares  frame.Shares // with the API
}

// pages has the handlers.
type pages struct {
	Config

	book  func() (*book, error) // read when somebody asks for a page
	index func() (index, error)
}

// New makes the pages. It reads no document yet.
func New(config Config) (*frame.Pages, error) {
	if err := required.Check("docpages", config, "Try"); err != nil {
		return nil, err
	}
	p := &pages{Config: config}
	p.book = sync.OnceValues(func() (*book, error) { return readBook(config.Documents, config.Site.Words().Languages()) })
	p.index = sync.OnceValues(p.newIndex)
	read := func(pattern string, handle func(*frame.Request) error) frame.Route {
		return frame.Route{Method: http.MethodGet, Path: Root + pattern, Handle: handle}
	}
	routes := []frame.Route{
		read("", p.showFront),
		read("/{$}", func(r *frame.Request) error { return r.Go(Root) }),
		read("/search", p.search),
		read("/api", p.showReference),
		read("/api/{$}", func(r *frame.Request) error { return r.Go(Reference) }),
		read("/api/"+errorsName, p.showErrors),
		read("/api/{operation}", p.showOperation),
		read("/{name...}", p.show),
	}
	if config.Try != nil {
		if err := required.Check("docpages", *config.Try); err != nil {
			return nil, err
		}
		routes = append(routes,
			frame.Route{Method: http.MethodPost, Path: Reference + "/{operation}/samples", MaxBody: maxSample, Handle: p.showSamples},
			frame.Route{Method: http.MethodPost, Path: Reference + "/key", Role: gateway.RoleOwner, Action: user.ActionKeyCreated, Handle: p.makeKey},
		)
	}
	return frame.New(
		frame.Config{Site: config.Site, Logger: config.Logger, Users: config.Users, Sandbox: config.Sandbox, Shares: config.Shares},
		routes...,
	)
}

// Owns reports whether a path is one of these pages.
func Owns(address string) bool {
	return address == Root || strings.HasPrefix(address, Root+"/")
}

// view is what all pages show.
type view struct {
	Groups []group
	Here   string // the address of the page
	Search string
}

// showFront shows the list of all pages.
func (p *pages) showFront(r *frame.Request) error {
	b, err := p.book()
	if err != nil {
		return err
	}
	return p.page(r, "front", r.Text(web.Word("Docs")), view{Groups: b.groups(r.Lang()), Here: Root})
}

// pageView is what the page of a document shows.
type pageView struct {
	view

	*content

	Lang         string
	Translations []translation // other languages of it
	Source       string        // address of its Markdown
	Before, Next *entry        // in the order of the list; nil for none
}

// translation is the same document in another language.
type translation struct {
	Lang, To string
	Name     string // of the language, in itself
}

// show shows a document, or serves a file as it is: the Markdown for programs, and what documents show.
func (p *pages) show(r *frame.Request) error {
	b, err := p.book()
	if err != nil {
		return err
	}
	name := r.PathValue("name")
	if name == specification {
		http.Redirect(r.W, r.Request, specificationAddress, http.StatusFound)
		return nil
	}
	found := b.page(name, r.URL.Query().Get("lang"), r.Lang())
	if found == nil {
		return p.serveFile(r, name)
	}
	read, err := found.read()
	if err != nil {
		return err
	}
	shown := pageView{
		view: view{Groups: b.groups(r.Lang()), Here: address(name)}, content: read, Lang: found.lang, Source: Root + "/" + found.file,
	}
	for _, lang := range b.languages {
		if b.pages[lang][name] != nil && lang != found.lang {
			shown.Translations = append(shown.Translations, translation{
				Lang: lang, To: address(name) + "?lang=" + lang,
				Name: p.Site.Words().Text(lang, web.Word("English")), // translated as the language's own name
			})
		}
	}
	shown.Before, shown.Next = b.around(r.Lang(), shown.Here)
	return p.page(r, "page", read.Title, shown)
}

// page answers with a page that looks the same to the same visitor until the program is another one.
func (p *pages) page(r *frame.Request, name, title string, body any) error {
	r.W.Header().Set("Cache-Control", "private, no-cache")
	return r.Page(name, frame.View{Title: title, Section: "docs", Public: true, Body: body})
}

// fileTypes are the content types of files by the endings of their names. All others are shown as text.
func fileTypes() map[string]string { return map[string]string{".png": "image/png"} }

// serveFile serves a file of the documents as it is.
func (p *pages) serveFile(r *frame.Request, name string) error {
	file, err := fs.ReadFile(p.Documents, name)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) || !strings.Contains(path.Base(name), ".") {
			return gateway.Errorf(gateway.NotFound, gateway.CodeNotFound, "there is no such page")
		}
		return err
	}
	kind := fileTypes()[path.Ext(name)]
	if kind == "" {
		kind = "text/plain; charset=utf-8"
	}
	header := r.W.Header()
	header.Set("Content-Type", kind)
	header.Set("Cache-Control", "no-cache")   // another version of the program has another one
	_, _ = bytes.NewReader(file).WriteTo(r.W) // an error means that the client has gone
	return nil
}
