// Package reference serves the reference page of the API, which is made of the
// OpenAPI document, and the guides. The package api adds it to its routes.
package reference

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"

	"github.com/recado-project/recado/docs"
	"github.com/recado-project/recado/internal/api/contract"
)

// files are the page's template, its style and its script. The page loads nothing
// from other hosts, so it works offline.
//
//go:embed page.html page.js style.css
var files embed.FS

// policy lets the page load its own style and script, and nothing else.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Serve adds the reference page and the guides to an API.
func Serve(api *contract.API) error {
	for path, to := range map[string]string{
		"/{$}": "/docs", "/docs/{$}": "/docs", // the addresses that people try first
		"/docs/openapi.yaml": "/openapi.yaml", // the guides' links lead here
	} {
		api.Handle(http.MethodGet, path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		})
	}
	serveText(api, "/docs", "text/html; charset=utf-8", func() ([]byte, error) { return writePage(api) })
	for _, file := range []struct {
		path, contentType, name string
	}{
		{"/docs/style.css", "text/css; charset=utf-8", "style.css"},
		{"/docs/page.js", "text/javascript; charset=utf-8", "page.js"},
	} {
		serveText(api, file.path, file.contentType, func() ([]byte, error) { return files.ReadFile(file.name) })
	}
	return serveGuides(api)
}

// writePage writes the reference page.
func writePage(api *contract.API) ([]byte, error) {
	parsed, err := template.New("page.html").Funcs(template.FuncMap{"prose": prose}).ParseFS(files, "page.html")
	if err != nil {
		return nil, fmt.Errorf("reference: parse reference page: %w", err)
	}
	content, err := newPage(api.NewDocument())
	if err != nil {
		return nil, err
	}
	var shown bytes.Buffer
	if err := parsed.Execute(&shown, content); err != nil {
		return nil, fmt.Errorf("reference: write reference page: %w", err)
	}
	return shown.Bytes(), nil
}

// serveGuides serves the guides for users and the files that they show, so that the
// links between them work.
func serveGuides(api *contract.API) error {
	err := fs.WalkDir(docs.Guides, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		serveText(api, "/docs/"+name, plainType, func() ([]byte, error) { return docs.Guides.ReadFile(name) })
		return nil
	})
	if err != nil {
		return fmt.Errorf("reference: read guides: %w", err)
	}
	return nil
}

// plainType is the type of files that browsers show as text.
const plainType = "text/plain; charset=utf-8"

// serveText serves a text of the page or a guide.
func serveText(api *contract.API, path, contentType string, write func() ([]byte, error)) {
	text := api.Text(contentType, write)
	api.Handle(http.MethodGet, path, func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Cache-Control", "no-cache") // another version of the program has another page
		text(w, r)
	})
}
